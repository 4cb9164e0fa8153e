package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Fingerprint detects changes to an agent's configuration. The zero value means unknown and equals every fingerprint.
type Fingerprint struct {
	Sum string `json:"sum,omitempty"`
	// short hash of each field: "command", "env FOO", "pre_start", …
	Fields map[string]string `json:"fields,omitempty"`
}

// NewFingerprint returns the fingerprint of fields.
func NewFingerprint(fields map[string]string) Fingerprint {
	f := Fingerprint{Fields: make(map[string]string, len(fields))}
	names := make([]string, 0, len(fields))
	for name, value := range fields {
		sum := sha256.Sum256([]byte(value))
		f.Fields[name] = hex.EncodeToString(sum[:8])
		names = append(names, name)
	}
	slices.Sort(names)
	h := sha256.New()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0})
		h.Write([]byte(f.Fields[name]))
		h.Write([]byte{0})
	}
	f.Sum = hex.EncodeToString(h.Sum(nil))
	return f
}

// Known reports whether f can be compared. The zero value cannot.
func (f Fingerprint) Known() bool { return f.Sum != "" }

// Drift describes the fields that differ between the two fingerprints, for example "env FOO changed". If either is
// unknown, Drift returns nil.
func (f Fingerprint) Drift(want Fingerprint) []string {
	if !f.Known() || !want.Known() || f.Sum == want.Sum {
		return nil
	}
	var out []string
	for name, h := range want.Fields {
		switch old, ok := f.Fields[name]; {
		case !ok:
			out = append(out, name+" added")
		case old != h:
			out = append(out, name+" changed")
		}
	}
	for name := range f.Fields {
		if _, ok := want.Fields[name]; !ok {
			out = append(out, name+" removed")
		}
	}
	slices.Sort(out)
	return out
}

// ProviderField is the field name under which Drift reports the session provider.
const ProviderField = "provider"

// Drift describes how a session differs from one that would be started now.
func (s *Status) Drift(want *Spec) []string {
	out := append(s.Fingerprint.Drift(want.Fingerprint), s.Outdated...)
	if s.ProviderChanged(want) {
		out = append(out, ProviderField+" changed")
	}
	return out
}

// ProviderChanged reports whether the session runs in a provider other than the wanted one. It returns false if either
// is unknown.
func (s *Status) ProviderChanged(want *Spec) bool {
	return s.Provider != "" && want.Provider != "" && s.Provider != want.Provider
}
