<?php
namespace App\Models;

#[Attr]
class Cart extends Base {
    public function total($a) {
        $f = function ($x) { return $x; };
        $g = fn($x) => $x + 1;
        return "x $a";
    }
}
interface I { public function f(); }
trait T { }
enum E { case A; }
function top() { return 1; }
?>
<b>html</b>
