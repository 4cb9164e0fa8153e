package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// Fingerprint detects changes to an agent's configuration. It contains a hash of all configured values that
// the agent is started with, and a hash of each field to explain a difference. The zero value is unknown and
// counts as equal to every fingerprint.
type Fingerprint struct {
	Sum string `json:"sum,omitempty"`
	// short hash of each field: "command", "env FOO", "pre_start", …
	Fields map[string]string `json:"fields,omitempty"`
}

// NewFingerprint hashes fields. Their order does not matter.
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

// Known reports whether the fingerprint can be compared with other fingerprints.
func (f Fingerprint) Known() bool { return f.Sum != "" }

// Drift returns the fields that differ between f and want, sorted, for example "env FOO changed". It returns
// nothing if the fingerprints are equal or one of them is unknown.
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

// ProviderField is the name of the session provider in a drift.
const ProviderField = "provider"

// Drift returns the differences between a session and a session that would be started now: the fields whose
// fingerprints differ, and the provider.
func (s *Status) Drift(want *Spec) []string {
	out := s.Fingerprint.Drift(want.Fingerprint)
	if s.ProviderChanged(want) {
		out = append(out, ProviderField+" changed")
	}
	return out
}

// ProviderChanged reports whether the session has a provider other than the wanted one. An unknown provider counts as
// the same.
func (s *Status) ProviderChanged(want *Spec) bool {
	return s.Provider != "" && want.Provider != "" && s.Provider != want.Provider
}
