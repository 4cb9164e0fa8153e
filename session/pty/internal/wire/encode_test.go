package wire

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// encoding/json decodes what this package encodes, and this package decodes what encoding/json encodes.
func FuzzEncode(f *testing.F) {
	f.Add("a", "echo \"x\\y\" <&>\n\x01\u2028", "", 7, uint64(8), true)
	f.Add("", "\xff\xfe", "SIGKILL", -1, uint64(1)<<63, false)
	f.Fuzz(func(t *testing.T, a, b, c string, n int, u uint64, flag bool) {
		a, b, c = valid(a), valid(b), valid(c)
		exit := &Exit{
			Name: a, Agent: b, ID: c, Code: n, Signal: c, Lost: flag, Asked: !flag,
			At: time.Unix(int64(uint32(n)), int64(u%1e9)).UTC(), Uptime: time.Duration(n),
		}
		rec := Record{
			Version: n, Name: a, Agent: b, City: c, ID: b, Command: a, Boot: c, Holder: n, HolderStart: u, Born: int64(n),
		}
		if flag {
			rec.Fingerprint = json.RawMessage(`{"sum":"x"}`)
		}
		same(t, rec, &Record{})
		same(t, *exit, &Exit{})
		same(t, State{Record: rec, PID: n, Acked: flag}, &State{})
		same(t, State{Record: rec, Exit: exit}, &State{})
		same(t, Screen{Cols: n, Rows: n, Dropped: u}, &Screen{})
		same(t, &Failure{Cause: Cause(c), Message: b}, &Failure{})
	})
}

func valid(s string) string { return string([]rune(s)) }

func same(t *testing.T, v Encoder, into any) {
	t.Helper()
	data := v.AppendJSON(nil)
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	want, got := reflect.Indirect(reflect.ValueOf(v)), reflect.ValueOf(into).Elem()
	if !reflect.DeepEqual(want.Interface(), got.Interface()) {
		t.Fatalf("%s is read as %+v, want %+v", data, got, want)
	}
}

// A request is decoded to the same value with and without encoding/json.
func FuzzFlatRequest(f *testing.F) {
	for _, r := range []Request{
		{Op: OpHold}, {Op: OpHold, Look: true}, {Op: OpStop, Grace: time.Second}, {Op: OpAck, ID: "x"},
		{Op: OpSetMeta, Key: ReadyMark, Value: "1"}, {Op: OpSend, Text: "grüße", Wait: 5, Quiet: 6},
	} {
		data, err := json.Marshal(r)
		if _, ok := flatRequest(data); err != nil || !ok {
			f.Errorf("%s cannot be decoded without encoding/json: %v", data, err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"op":"send","text":"a\u0041","wait":1e3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := flatRequest(data)
		if !ok {
			return
		}
		var want Request
		if err := json.Unmarshal(data, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v, %v", data, got, want, err)
		}
	})
}

// A start request arrives unchanged. A truncated one is rejected.
func FuzzBegin(f *testing.F) {
	f.Add("a", "sleep 1", "/bin/sleep", "K=V", 80, true)
	f.Add("", "", "", "", -1, false)
	f.Fuzz(func(t *testing.T, a, b, c, d string, n int, flag bool) {
		want := Request{Op: OpStart, Ready: flag, Plain: !flag, Spec: &Spec{
			Name: a, Agent: b, City: c, ID: d, Command: b, Path: c, Args: []string{c, d}, Dir: a, Env: []string{d, a, ""},
			Cols: n, Rows: -n, Fingerprint: json.RawMessage(b),
		}}
		data, ok := EncodeBegin(&want)
		if !ok {
			return
		}
		got, err := DecodeRequest(Message{Begin, data})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, want %+v, %v", got.Spec, want.Spec, err)
		}
		if _, err := DecodeRequest(Message{Begin, data[:len(a)]}); err == nil {
			t.Error("a start request with one field was accepted")
		}
	})
}
