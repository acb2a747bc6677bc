//! Dialling checked addresses on loopback.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};

use super::{LOOPBACK, loopback_policy, soon};
use crate::net::address::CheckedAddress;
use crate::net::dial::{DialError, dial};

fn checked(last: u8) -> CheckedAddress {
    let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, last));
    loopback_policy().check(address).unwrap()
}

#[tokio::test]
async fn the_first_address_that_accepts_is_used() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    // Nothing listens at 127.0.0.2 and 127.0.0.3 on this port.
    let addresses = [checked(2), checked(1), checked(3)];
    let (stream, reached) = dial(&addresses, port, soon()).await.unwrap();
    assert_eq!(reached, checked(1));
    assert_eq!(stream.peer_addr().unwrap(), listener.local_addr().unwrap());
    assert!(stream.nodelay().unwrap());
    let (_, client) = listener.accept().await.unwrap();
    assert_eq!(client, stream.local_addr().unwrap());
}

#[tokio::test]
async fn a_second_listener_is_not_touched() {
    let first = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = first.local_addr().unwrap().port();
    let second = TcpListener::bind((checked(2).address(), port)).await.unwrap();
    dial(&[checked(1), checked(2)], port, soon()).await.unwrap();
    first.accept().await.unwrap();
    let touched = timeout(Duration::from_millis(50), second.accept()).await;
    assert!(touched.is_err(), "both addresses were dialled");
}

#[tokio::test]
async fn no_listener_is_a_refusal_without_a_connection() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let fault = dial(&[checked(1), checked(2)], port, soon()).await.unwrap_err();
    assert_eq!(fault, DialError::Refused);
    assert!(!fault.connection_opened());
}

#[tokio::test]
async fn nothing_to_dial() {
    assert_eq!(dial(&[], 80, soon()).await.unwrap_err(), DialError::NoAddress);
}

/// A listener whose queue is full neither accepts nor refuses: the kernel drops the request.
async fn deaf_listener() -> (TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((LOOPBACK, 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    let patience = Duration::from_millis(200);
    while let Ok(stream) = timeout(patience, TcpStream::connect(address)).await {
        queued.push(stream.unwrap());
        assert!(queued.len() < 64, "the queue never fills");
    }
    (listener, queued)
}

#[tokio::test]
async fn a_deaf_target_meets_the_deadline_without_a_connection() {
    let (listener, _queued) = deaf_listener().await;
    let port = listener.local_addr().unwrap().port();
    let deadline = Instant::now() + Duration::from_millis(100);
    let fault = dial(&[checked(1)], port, deadline).await.unwrap_err();
    assert_eq!(fault, DialError::Deadline);
    assert!(!fault.connection_opened());
}

#[tokio::test]
async fn a_deaf_address_leaves_time_for_the_next() {
    let (deaf, _queued) = deaf_listener().await;
    let port = deaf.local_addr().unwrap().port();
    let second = TcpListener::bind((checked(2).address(), port)).await.unwrap();
    let deadline = Instant::now() + Duration::from_secs(2);
    let (_, reached) = dial(&[checked(1), checked(2)], port, deadline).await.unwrap();
    assert_eq!(reached, checked(2));
    second.accept().await.unwrap();
}
