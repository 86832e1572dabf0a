// SPDX-License-Identifier: MIT
use std::collections::BTreeMap;
use std::panic;
use std::thread;

struct Guard(u64);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = unsafe { std::ptr::read_volatile(&self.0) };
    }
}

// Every second call ends by unwinding.
#[no_mangle]
#[inline(never)]
pub fn work(n: u64) -> u64 {
    let guard = Guard(n);
    if n % 2 == 0 {
        panic!("even");
    }
    guard.0 + 1
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> = (0..5u64).map(|k| thread::spawn(move || panic::catch_unwind(|| work(k)).unwrap_or(100))).collect();
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for t in threads {
        *sums.entry(t.join().unwrap()).or_insert(0) += 1;
    }
    for k in 5..10u64 {
        *sums.entry(panic::catch_unwind(|| work(k)).unwrap_or(100)).or_insert(0) += 1;
    }
    println!("{:?}", sums);
}
