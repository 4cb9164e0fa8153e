package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
)

// A session's lock file contains its Activity, the Location of its Record, and the Record as JSON. Everything is in one
// file, because some file systems are slow to create files.
const (
	LocationAt   = ActivitySize // offset of the encoded Location
	LocationSize = 8
	recordsAt    = LocationAt + LocationSize // offset of the first record
)

// Location is the position of the current record in the lock file, in bytes. A holder writes a new record next to the
// current one and then replaces the location, so a reader never finds half a record.
type Location struct{ At, Len uint32 }

// Encode returns the location in its binary form.
func (l Location) Encode() (b [LocationSize]byte) {
	binary.LittleEndian.PutUint32(b[:], l.At)
	binary.LittleEndian.PutUint32(b[4:], l.Len)
	return b
}

// DecodeLocation decodes the location in a lock file of the given size. If the file contains no record, the location is
// zero. If the location is outside the file, ok is false.
func DecodeLocation(b []byte, size int64) (l Location, ok bool) {
	if len(b) < LocationSize {
		return Location{}, true
	}
	l = Location{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
	if l.Len == 0 {
		return Location{}, true
	}
	if l.At < recordsAt || int64(l.At)+int64(l.Len) > size {
		return Location{}, false
	}
	return l, true
}

// Next returns a location for another record of n bytes, which does not overlap with the current one.
func (l Location) Next(n int) Location {
	at := uint32(recordsAt)
	if l.Len > 0 && at+uint32(n) > l.At {
		at = l.At + l.Len
	}
	return Location{at, uint32(n)}
}

// DecodeRecord decodes the record in the content of a lock file. If the file contains none, ok is false.
func DecodeRecord(file []byte) (r Record, ok bool, err error) {
	if len(file) < recordsAt {
		return r, false, nil
	}
	l, ok := DecodeLocation(file[LocationAt:], int64(len(file)))
	if !ok {
		return r, false, errors.New("the lock file is damaged")
	}
	if l.Len == 0 {
		return r, false, nil
	}
	return r, true, json.Unmarshal(file[l.At:l.At+l.Len], &r)
}
