//go:build !linux

package cgroup

import "errors"

// Limits are what the processes of a group get together.
type Limits struct {
	CPUs   float64
	Memory int64
}

// Tree is a control group in which groups with limits can be made.
type Tree struct{}

// Own fails: there are control groups on Linux only.
func Own() (*Tree, error) { return nil, errors.New("limits need Linux") }

// Set is never called.
func (t *Tree) Set(string, Limits) (string, error) { return "", errors.New("limits need Linux") }
