package sqlite

import (
	"errors"

	driver "modernc.org/sqlite"
)

// SQLite result codes that the store handles.
const (
	codePerm     = 3
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

func code(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func busy(err error) bool {
	c := code(err)
	return c == codeBusy || c == codeLocked
}

// IsDamaged reports whether err means that a store's file is damaged or is not a store.
func IsDamaged(err error) bool {
	c := code(err)
	return c == codeCorrupt || c == codeNotADB
}
