package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// DecodeRequest decodes the request in a message of kind Ask or Begin.
func DecodeRequest(m Message) (r Request, err error) {
	if m.Kind == Begin {
		return decodeBegin(string(m.Data))
	}
	if r, ok := flatRequest(m.Data); ok {
		return r, nil
	}
	return r, json.Unmarshal(m.Data, &r)
}

var errTorn = errors.New("the start request is incomplete")

// EncodeBegin encodes a start request for a message of kind Begin. If a string contains a NUL byte, ok is false.
// Holders of other builds decode it by position, so a change of its fields needs a new Version.
func EncodeBegin(r *Request) (data []byte, ok bool) {
	s := r.Spec
	fields := []string{
		s.Name, s.Agent, s.City, s.ID, s.Command, s.Path, s.Dir, string(s.Fingerprint),
		strconv.Itoa(s.Cols), strconv.Itoa(s.Rows), strconv.Itoa(s.StopSignal),
		strconv.FormatBool(r.Ready), strconv.FormatBool(r.Plain), strconv.Itoa(len(s.Args)),
	}
	n := len(fields) + len(s.Args) + len(s.Env)
	for _, list := range [][]string{fields, s.Args, s.Env} {
		for _, field := range list {
			data = append(append(data, field...), 0)
		}
	}
	return data, bytes.Count(data, []byte{0}) == n
}

func decodeBegin(data string) (Request, error) {
	s := &Spec{}
	r := Request{Op: OpStart, Spec: s}
	var print, cols, rows, signal, ready, plain, args string
	for _, field := range []*string{
		&s.Name, &s.Agent, &s.City, &s.ID, &s.Command, &s.Path, &s.Dir, &print,
		&cols, &rows, &signal, &ready, &plain, &args,
	} {
		var ok bool
		if *field, data, ok = strings.Cut(data, "\x00"); !ok {
			return r, errTorn
		}
	}
	list := make([]string, 0, strings.Count(data, "\x00"))
	for data != "" {
		field, rest, ok := strings.Cut(data, "\x00")
		if !ok {
			return r, errTorn
		}
		list, data = append(list, field), rest
	}
	n, err := strconv.Atoi(args)
	if err != nil || n < 0 || n > len(list) {
		return r, errTorn
	}
	s.Args, s.Env = list[:n:n], list[n:]
	var colsErr, rowsErr, signalErr error
	s.Cols, colsErr = strconv.Atoi(cols)
	s.Rows, rowsErr = strconv.Atoi(rows)
	s.StopSignal, signalErr = strconv.Atoi(signal)
	s.Fingerprint, r.Ready, r.Plain = []byte(print), ready == "true", plain == "true"
	return r, errors.Join(colsErr, rowsErr, signalErr)
}

// flatRequest decodes a request that contains only numbers, booleans, and strings without escapes. For any other
// request, ok is false.
func flatRequest(data []byte) (r Request, ok bool) {
	rest, ok := bytes.CutPrefix(data, []byte("{"))
	if !ok || !utf8.Valid(data) {
		return Request{}, false
	}
	for {
		var key string
		if key, rest, ok = flatString(rest); !ok {
			return Request{}, false
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(":")); !ok {
			return Request{}, false
		}
		if rest, ok = r.setFlat(key, rest); !ok || len(rest) == 0 {
			return Request{}, false
		}
		if string(rest) == "}" {
			return r, true
		}
		if rest[0] != ',' {
			return Request{}, false
		}
		rest = rest[1:]
	}
}

func (r *Request) setFlat(key string, data []byte) (rest []byte, ok bool) {
	var text *string
	switch key {
	case "op":
		text = (*string)(&r.Op)
	case "text":
		text = &r.Text
	case "key":
		text = &r.Key
	case "value":
		text = &r.Value
	case "id":
		text = &r.ID
	case "look":
		r.Look, rest, ok = flatTrue(data)
		return rest, ok
	case "tail":
		n, rest, ok := flatNumber(data)
		r.Tail = int(n)
		return rest, ok
	case "grace":
		return flatDuration(&r.Grace, data)
	case "wait":
		return flatDuration(&r.Wait, data)
	case "quiet":
		return flatDuration(&r.Quiet, data)
	default:
		return nil, false
	}
	*text, rest, ok = flatString(data)
	return rest, ok
}

func flatString(data []byte) (s string, rest []byte, ok bool) {
	data, ok = bytes.CutPrefix(data, []byte{'"'})
	text, rest, found := bytes.Cut(data, []byte{'"'})
	plain := !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == '\\' })
	if !ok || !found || !plain {
		return "", nil, false
	}
	return string(text), rest, true
}

func flatTrue(data []byte) (value bool, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(data, []byte("true"))
	return ok, rest, ok
}

func flatDuration(d *time.Duration, data []byte) (rest []byte, ok bool) {
	v, rest, ok := flatNumber(data)
	*d = time.Duration(v)
	return rest, ok
}

func flatNumber(data []byte) (v int64, rest []byte, ok bool) {
	n := bytes.IndexFunc(data, func(r rune) bool { return r < '0' || r > '9' })
	if n < 1 || data[0] == '0' {
		return 0, nil, false
	}
	v, err := strconv.ParseInt(string(data[:n]), 10, 64)
	return v, data[n:], err == nil
}
