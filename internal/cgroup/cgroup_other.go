//go:build !linux

package cgroup

import "errors"

// Limits contains the limits for all processes in a control group together.
type Limits struct {
	CPUs   float64
	Memory int64
}

// Tree is a control group below which groups with limits can be created.
type Tree struct{}

// Own always fails, because only Linux has control groups.
func Own() (*Tree, error) { return nil, errors.New("limits need Linux") }

// Set is never called, because Own returns no Tree.
func (t *Tree) Set(string, Limits) (string, error) { return "", errors.New("limits need Linux") }
