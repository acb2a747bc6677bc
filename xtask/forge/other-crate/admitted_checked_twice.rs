//! One admitted call, two checked ones.
//! door: Admitted
use framegate_gate::protocol::Admitted;
use framegate_gate::schema::{Catalog, Checked, SchemaRefusal, check};

fn forge(admitted: Admitted<'_>, catalog: &Catalog) -> Result<Checked, SchemaRefusal> {
    let _ = check(admitted, catalog); //~ forged
    check(admitted, catalog) //~ forged E0382
    check(admitted, catalog) //~ twin
}

fn main() {}
