//! One checked call judged under two sets of terms.
//! door: Checked
use framegate_gate::authorization::{Policy, PermitTerms, authorize};
use framegate_gate::schema::Checked;

fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> bool {
    let again = checked.clone(); //~ forged E0599
    let again = checked; //~ twin
    authorize(again, policy, terms).is_ok()
}

fn main() {}
