import Foundation
class Cart: Base {
    var total: Int {
        return 1
    }
    init(n: Int) { }
    deinit { }
    @objc
    func add(_ a: Int) -> Int {
        func inner() { }
        return a
    }
}
struct P { }
enum E { case a }
protocol Shape { func area() -> Double }
extension Cart { func more() { } }
func main() { print("x") }
actor A { }
