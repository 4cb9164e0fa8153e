package wire

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// This package avoids encoding/json, which would cost each holder 80 kB.

type object []byte

func (o object) key(name string) object {
	c := byte(',')
	if len(o) == 0 || o[len(o)-1] == ':' {
		c = '{'
	}
	o = append(o, c, '"')
	o = append(o, name...)
	return append(o, '"', ':')
}

func (o object) text(name, value string) object { return appendString(o.key(name), value) }

func (o object) number(name string, n int64) object {
	return strconv.AppendInt(o.key(name), n, 10)
}

func (o object) unsigned(name string, n uint64) object {
	return strconv.AppendUint(o.key(name), n, 10)
}

func (o object) set(name string, value bool) object {
	if !value {
		return o
	}
	return append(o.key(name), "true"...)
}

func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s { // an invalid byte yields utf8.RuneError
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// Encoder is a value that a holder can write as JSON.
type Encoder interface {
	AppendJSON(b []byte) []byte
}

// AppendJSON implements Encoder.
func (r Record) AppendJSON(b []byte) []byte {
	o := object(b).number("version", int64(r.Version)).text("name", r.Name)
	o = o.text("agent", r.Agent).text("city", r.City).text("id", r.ID)
	o = o.text("command", r.Command)
	o = appendString(append(o, `,"boot":`...), r.Boot)
	o = o.number("holder", int64(r.Holder)).unsigned("holder_start", r.HolderStart)
	o = o.number("born", r.Born)
	if len(r.Fingerprint) > 0 {
		o = append(o.key("fingerprint"), r.Fingerprint...)
	}
	return append(o, '}')
}

// AppendJSON implements Encoder.
func (x Exit) AppendJSON(b []byte) []byte {
	o := object(b).text("name", x.Name).text("agent", x.Agent).text("id", x.ID)
	o = o.number("code", int64(x.Code))
	if x.Signal != "" {
		o = o.text("signal", x.Signal)
	}
	o = o.set("lost", x.Lost).set("asked", x.Asked)
	o = append(x.At.AppendFormat(append(o.key("at"), '"'), time.RFC3339Nano), '"')
	return append(o.number("uptime", int64(x.Uptime)), '}')
}

// AppendJSON implements Encoder.
func (s State) AppendJSON(b []byte) []byte {
	o := object(s.Record.AppendJSON(object(b).key("record"))).number("pid", int64(s.PID))
	if s.Exit != nil {
		o = s.Exit.AppendJSON(o.key("exit"))
	}
	return append(o.set("acked", s.Acked), '}')
}

// AppendJSON implements Encoder.
func (s Screen) AppendJSON(b []byte) []byte {
	o := object(b).number("cols", int64(s.Cols)).number("rows", int64(s.Rows))
	if s.Dropped > 0 {
		o = o.unsigned("dropped", s.Dropped)
	}
	return append(o.set("tail", s.Tail), '}')
}

// AppendJSON implements Encoder.
func (f *Failure) AppendJSON(b []byte) []byte {
	o := object(b)
	if f.Cause != "" {
		o = o.text("cause", string(f.Cause))
	}
	return append(o.text("message", f.Message), '}')
}
