package dialog

import (
	"slices"

	"gcity/tui/keymap"
)

// Stack contains the open dialogs. The top dialog is the last element. The zero value is an empty stack.
type Stack[T any] struct {
	open []Dialog[T]
}

// Top returns the dialog that receives the keys, or nil if none is open.
func (s *Stack[T]) Top() Dialog[T] {
	if len(s.open) == 0 {
		return nil
	}
	return s.open[len(s.open)-1]
}

// Open closes all dialogs with the same zone, and pushes the given one.
func (s *Stack[T]) Open(d Dialog[T]) {
	for s.In(d.Zone()) != nil {
		s.CloseIn(d.Zone())
	}
	s.open = append(s.open, d)
}

// OpenOver pushes a dialog. An open dialog with the same zone stays open below it.
func (s *Stack[T]) OpenOver(d Dialog[T]) { s.open = append(s.open, d) }

// Close removes a dialog from the stack, at any position.
func (s *Stack[T]) Close(d Dialog[T]) {
	s.open = slices.DeleteFunc(s.open, func(o Dialog[T]) bool { return o == d })
}

// CloseIn removes the top dialog with the given zone.
func (s *Stack[T]) CloseIn(z keymap.Zone) {
	if d := s.In(z); d != nil {
		s.Close(d)
	}
}

// In returns the top dialog with the given zone, or nil.
func (s *Stack[T]) In(z keymap.Zone) Dialog[T] {
	for _, d := range slices.Backward(s.open) {
		if d.Zone() == z {
			return d
		}
	}
	return nil
}
