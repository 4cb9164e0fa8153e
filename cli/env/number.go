package env

import (
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

type number[T int | uint64] struct {
	to      *T
	minimum T
}

// Number returns a flag value that stores whole numbers from minimum upwards in *to.
func Number[T int | uint64](to *T, minimum T) pflag.Value { return number[T]{to, minimum} }

// String returns the number.
func (n number[T]) String() string { return fmt.Sprint(*n.to) }

// Type implements pflag.Value.
func (n number[T]) Type() string { return "N" }

// Set implements pflag.Value.
func (n number[T]) Set(text string) error {
	var value T
	var err error
	switch to := any(&value).(type) {
	case *int:
		*to, err = strconv.Atoi(text)
	case *uint64:
		*to, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil || value < n.minimum {
		return fmt.Errorf("use a whole number of at least %d", n.minimum)
	}
	*n.to = value
	return nil
}
