package main

import "fmt"

type Server struct {
	name string
}

type (
	A interface { Do() }
	B int
)

func (s *Server) Handle(x int) error {
	go func() { fmt.Println(`raw`) }()
	return nil
}

func (l List[T]) Len() int { return 0 }

func main() {
	var f = func(a int) int { return a }
	f(1)
}
