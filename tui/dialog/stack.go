package dialog

import (
	"slices"

	"gcity/tui/keymap"
)

// Stack holds the open dialogs, the top one last. Its zero value is empty.
type Stack[T any] struct {
	open []Dialog[T]
}

// Top returns the dialog that is heard, nil if none is open.
func (s *Stack[T]) Top() Dialog[T] {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// Open puts a dialog on top. One of the same zone leaves the stack for it.
func (s *Stack[T]) Open(d Dialog[T]) {
	s.CloseIn(d.Zone())
	s.open = append(s.open, d)
}

// Close takes a dialog off the stack, wherever it lies.
func (s *Stack[T]) Close(d Dialog[T]) {
	s.open = slices.DeleteFunc(s.open, func(o Dialog[T]) bool { return o == d })
}

// CloseIn takes the dialog of a zone off the stack.
func (s *Stack[T]) CloseIn(z keymap.Zone) {
	s.open = slices.DeleteFunc(s.open, func(o Dialog[T]) bool { return o.Zone() == z })
}

// In returns the dialog of a zone, nil if none is open.
func (s *Stack[T]) In(z keymap.Zone) Dialog[T] {
	for _, d := range s.open {
		if d.Zone() == z {
			return d
		}
	}
	return nil
}
