//! Effects on sockets.
//!
//! Belongs here: effects on sockets, over loopback.
//! Does not belong here: other effects.

use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use super::*;

#[test]
fn a_tcp_connection_and_what_goes_over_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let source = r"
        import os, socket, sys
        s = socket.socket()
        s.connect(('127.0.0.1', int(sys.argv[1])))
        s.sendall(b'fgm-one')
        os.write(s.fileno(), b'two')
        s.sendmsg([b'th', b'ree'])";
    let Some(command) = script(source, &[&address.port().to_string()]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::Connect, "127").detail, address.to_string());
    let sent: Vec<_> = seen.all(Kind::Send, &address.to_string()).collect();
    let calls: Vec<_> = sent.iter().map(|effect| (effect.call, effect.data.as_slice())).collect();
    assert_eq!(calls, [("sendto", &b"fgm-one"[..]), ("write", b"two"), ("sendmsg", b"three")]);
    let mut received = String::new();
    listener.accept().unwrap().0.read_to_string(&mut received).unwrap();
    assert_eq!(received, "fgm-onetwothree");
}

#[test]
fn a_datagram_is_sent() {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = receiver.local_addr().unwrap().to_string();
    let source = "import socket, sys\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
        a = ('127.0.0.1', int(sys.argv[1]))\ns.sendto(b'fgm-udp', a)\ns.sendmsg([b'fgm-', b'message'], [], 0, a)";
    let Some(command) = script(source, &[address.rsplit(':').next().unwrap()]) else { return };
    let seen = run(command);
    let sent: Vec<_> = seen.all(Kind::Send, &address).map(|effect| (effect.call, &effect.data[..])).collect();
    assert_eq!(sent, [("sendto", &b"fgm-udp"[..]), ("sendmsg", b"fgm-message")]);
}

#[test]
fn binding_and_listening() {
    let source = r"
        import socket
        for (family, address) in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
            try:
                s = socket.socket(family)
                s.bind((address, 0))
                s.listen()
            except OSError:
                pass
        socket.socket(socket.AF_UNIX).bind('\0fgm-abstract')";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::Bind, "127.0.0.1:0").call, "bind");
    assert!(seen.calls(Kind::Bind, "socket").contains(&"listen"));
    assert_eq!(seen.one(Kind::Bind, "fgm-").detail, "unix @fgm-abstract");
}

#[test]
fn a_named_unix_socket_leads_outside() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("socket");
    let _listener = UnixListener::bind(&path).unwrap();
    let source =
        "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ns.send(b'fgm-x')";
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::Connect, "/socket").data, text(&path).as_bytes());
    let send = seen.one(Kind::Send, "/socket");
    assert_eq!(send.detail, format!("unix {}", path.display()));
    assert!(send.data.ends_with(b"\0fgm-x"));
}
