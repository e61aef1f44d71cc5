mod shapes {
    #[derive(Debug)]
    /// doc
    pub struct Circle { r: f64 }

    impl Area for Circle {
        #[inline]
        fn area(&self) -> f64 {
            let g = |x: i32| x + 1;
            self.r * 2.0
        }
    }
    impl<T> Vec2<T> { fn new() -> Self { todo!() } }
    trait Area { fn area(&self) -> f64; }
    enum E { A, B }
    macro_rules! m { () => {} }
}
fn main() { println!("hi {}", 1); }
