package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A line is a JSON object that begins with its seq and ends with its seal:
//
//	{"seq":7,"ts":"…","type":"agent.started",…,"crc":"1a2b3c4d"}
//
// crc is the CRC-32C, as eight hex digits, of all bytes of the line before the comma in front of "crc". The seal has a
// fixed length, so a line can be checked without parsing it. Lines without a valid seal are counted and skipped.
const (
	lineHead = `{"seq":`
	sealHead = `,"crc":"`
	sealTail = `"}`
	sealSize = len(sealHead) + 8 + len(sealTail)

	maxLine = 64 << 10     // in bytes, including the newline
	maxSeq  = 1<<53 - 1    // largest integer that all JSON parsers support
	maxBody = maxLine - 64 // maximum size of a line without its seq and seal, in bytes

	maxName    = 1 << 10 // of the encoded actor or subject, in bytes
	maxMessage = 16 << 10
	maxHead    = 32 << 10 // size to which an oversized encoded payload is cut, in bytes
)

func checksum(b []byte) uint32 { return crc32.Update(0, crc32.MakeTable(crc32.Castagnoli), b) }

type entry struct {
	event Event
	body  []byte // the line from the comma after the seq up to the seal
}

// prepare checks and encodes an event. It shortens long fields; the entry's event is what readers will see.
func prepare(e Event, now time.Time) (entry, error) {
	if err := e.Check(); err != nil {
		return entry{}, err
	}
	if y := e.TS.Year(); e.TS.IsZero() || y < 1 || y > 9999 {
		e.TS = now
	}
	e.TS = e.TS.UTC().Round(0)
	b := make([]byte, 0, 160+len(e.Message)+len(e.Payload))
	b = e.TS.AppendFormat(append(b, `,"ts":"`...), time.RFC3339Nano)
	b, _ = appendString(append(b, `","type":`...), e.Type, maxName)
	b, whole := appendString(append(b, `,"actor":`...), e.Actor, maxName)
	for _, f := range [...]struct {
		key, value string
		limit      int
	}{{`,"subject":`, e.Subject, maxName}, {`,"message":`, e.Message, maxMessage},
		{`,"emitted_by":`, e.EmittedBy, maxName}, {`,"peer":`, e.Peer, maxName}} {
		if f.value != "" {
			var ok bool
			b, ok = appendString(append(b, f.key...), f.value, f.limit)
			whole = whole && ok
		}
	}
	if len(e.Payload) > 0 {
		p := payload(e.Payload, maxBody-len(b)-len(`,"payload":`))
		b = append(append(b, `,"payload":`...), p...)
		e.Payload = p
	}
	if !whole {
		line := seal(nil, 0, b)
		if err := json.Unmarshal(line, &e); err != nil {
			return entry{}, fmt.Errorf("cannot encode event %s: %w", e.Type, err)
		}
	}
	return entry{e, b}, nil
}

func seal(dst []byte, seq uint64, body []byte) []byte {
	start := len(dst)
	dst = strconv.AppendUint(append(dst, lineHead...), seq, 10)
	dst = append(dst, body...)
	return append(appendSeal(dst, checksum(dst[start:])), '\n')
}

func appendSeal(dst []byte, sum uint32) []byte {
	dst = append(dst, sealHead...)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[sum>>shift&15])
	}
	return append(dst, sealTail...)
}

// unseal checks a line without its newline. It ignores a final carriage return, which an editor might have added.
func unseal(line []byte) (seq uint64, ok bool) {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	body := len(line) - sealSize
	if body <= len(lineHead) || len(line) >= maxLine || !bytes.HasPrefix(line, []byte(lineHead)) {
		return 0, false
	}
	var want [sealSize]byte
	if !bytes.Equal(line[body:], appendSeal(want[:0], checksum(line[:body]))) {
		return 0, false
	}
	return leadingSeq(line)
}

func leadingSeq(line []byte) (seq uint64, ok bool) {
	for _, c := range line[len(lineHead):] {
		if c < '0' || c > '9' {
			return seq, c == ',' && seq > 0
		}
		if seq = seq*10 + uint64(c-'0'); seq > maxSeq {
			return 0, false
		}
	}
	return 0, false
}

func decode(line []byte) (Event, error) {
	var e Event
	err := json.Unmarshal(line, &e)
	return e, err
}

// maxClaimedSeq returns the highest seq that might be in use, given a damaged line and the last seq. The result must
// not be assigned again, because a reader might have seen it.
func maxClaimedSeq(line []byte, last uint64) uint64 {
	high := last
	if bytes.HasPrefix(line, []byte(lineHead)) || bytes.Contains(line, []byte(sealHead)) {
		high++
	}
	for rest := line; ; {
		i := bytes.Index(rest, []byte(lineHead))
		if i < 0 {
			return high
		}
		rest = rest[i:]
		if seq, ok := leadingSeq(rest); ok && seq > high && seq <= last+64 {
			high = seq
		}
		rest = rest[len(lineHead):]
	}
}

// appendString appends s as a JSON string of at most limit bytes. It returns false if s was cut or is not valid UTF-8.
// It escapes all control characters, so that the file is safe to print.
func appendString(dst []byte, s string, limit int) ([]byte, bool) {
	const hex = "0123456789abcdef"
	whole, end := true, len(dst)+limit-len(`…"`)
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if len(dst)+6 > end {
			return append(dst, `…"`...), false
		}
		switch {
		case r == utf8.RuneError && n == 1:
			dst, whole = append(dst, `\ufffd`...), false
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, '\\', 'n')
		case r == '\t':
			dst = append(dst, '\\', 't')
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029:
			dst = append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"'), whole
}

// KeepsPayload reports whether the log can store the payload of an event unchanged. The log replaces a payload with its
// beginning if the event would be longer than 64 KiB.
func KeepsPayload(e Event) bool {
	var whole bytes.Buffer
	// the controller sets these fields, so reserve space for them
	e.TS, e.EmittedBy = time.Unix(0, 1), strings.Repeat("x", maxName)
	stored, err := prepare(e, e.TS)
	return err != nil || json.Compact(&whole, e.Payload) != nil ||
		bytes.Equal(stored.event.Payload, whole.Bytes())
}

// payload returns a JSON value as one line of at most limit bytes. If raw is invalid or too long, the value is an
// object with the beginning of raw, and with raw's depth.
func payload(raw json.RawMessage, limit int) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(raw))
	why := "truncated"
	if err := json.Compact(&b, raw); err != nil {
		why = "invalid"
		b.Reset()
		b.Write(raw[:min(len(raw), maxLine)])
	} else if b.Len() <= limit {
		return b.Bytes()
	}
	head := string(b.Bytes()[:min(b.Len(), maxHead)])
	out := fmt.Appendf(nil, `{"%s":true,"bytes":%d,`, why, len(raw))
	// the depth ends chains of automation runs; see automation.Depth
	var about struct {
		Depth int `json:"depth"`
	}
	if json.Unmarshal(raw, &about) == nil && about.Depth > 0 {
		out = fmt.Appendf(out, `"depth":%d,`, about.Depth)
	}
	out = append(out, `"head":`...)
	out, _ = appendString(out, head, min(maxHead, limit-len(out)-1))
	return append(out, '}')
}
