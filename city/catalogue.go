package city

import "context"

// Catalogued is a city that checks the configuration on disk and lists its formulas. A remote city may lack both.
type Catalogued interface {
	// Validate reads the configuration on disk and returns what is wrong with it. It changes nothing.
	Validate(ctx context.Context) (Validation, error)
	// Formulas lists the formulas that the city finds, or that a rig finds, in name order.
	Formulas(ctx context.Context, rig string) ([]Formula, error)
}

// Validation is what is wrong with a configuration, and what is worth a warning. Secrets in it show as ***.
type Validation struct {
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`   // each with its file and line, where it has one; never null
	Warnings []string `json:"warnings"` // the same
}

// Formula is a formula as the city lists it.
type Formula struct {
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Version     string       `json:"version,omitempty"`
	Rig         string       `json:"rig,omitempty"` // whose layer it is in; "" = the city's
	Layer       string       `json:"layer"`         // for people: "city", "rig demo"
	Source      string       `json:"source"`        // the file
	Vars        []FormulaVar `json:"vars"`          // never null
	Steps       int          `json:"steps"`
	Problem     string       `json:"problem,omitempty"` // why it cannot be used
	Warnings    []string     `json:"warnings,omitempty"`
}

// FormulaVar is a variable of a formula.
type FormulaVar struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"` // has no default and needs a value
	Default     string `json:"default,omitempty"`
}

// NewRig is a rig that a client declares.
type NewRig struct {
	Name      string `json:"name"`
	Path      string `json:"path"`             // absolute, or below the city's folder
	Prefix    string `json:"prefix,omitempty"` // of its work; "" = made from the name
	Suspended bool   `json:"suspended,omitempty"`
}

// RigEditor is a city that declares rigs in its city.toml and removes them from it. Comments and all other tables of
// the file stay. A remote city may lack both.
type RigEditor interface {
	AddRig(ctx context.Context, r NewRig) (Receipt, error)
	// RemoveRig refuses a rig that has agents or work in progress. The folder stays.
	RemoveRig(ctx context.Context, name string) (Receipt, error)
}
