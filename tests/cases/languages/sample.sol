pragma solidity ^0.8.0;
contract Cart {
    uint n;
    constructor() { n = 1; }
    modifier only() { _; }
    function total(uint a) public returns (uint) {
        return a;
    }
    struct P { uint x; }
    event E(uint a);
}
interface I { function f() external; }
library L { }
