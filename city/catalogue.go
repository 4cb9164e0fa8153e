package city

import "context"

// Catalogued is a city that can check the configuration on disk and list its formulas. A remote city may not
// implement it.
type Catalogued interface {
	// Validate reads the configuration on disk and returns its errors and warnings. It changes nothing.
	Validate(ctx context.Context) (Validation, error)
	// Formulas lists the formulas of the city, or of a rig, sorted by name.
	Formulas(ctx context.Context, rig string) ([]Formula, error)
}

// Validation contains the errors and warnings for a configuration. Secrets in them are replaced with ***.
type Validation struct {
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`   // each with its file and line if they are known; never null
	Warnings []string `json:"warnings"` // in the same form as Errors; never null
}

// Formula is a formula in the city's list.
type Formula struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Version     string `json:"version,omitempty"`
	// the rig that the formula belongs to; "" = the city
	Rig      string       `json:"rig,omitempty"`
	Layer    string       `json:"layer"`  // description for users: "city", "rig demo"
	Source   string       `json:"source"` // path of the formula's file
	Vars     []FormulaVar `json:"vars"`   // never null
	Steps    int          `json:"steps"`
	Problem  string       `json:"problem,omitempty"` // why the formula cannot be used
	Warnings []string     `json:"warnings,omitempty"`
}

// FormulaVar is a variable of a formula.
type FormulaVar struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"` // the variable has no default
	Default     string `json:"default,omitempty"`
}

// NewRig describes a rig that a client adds.
type NewRig struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute, or below the city's folder
	// prefix of the rig's bead IDs; "" = derived from the name
	Prefix    string `json:"prefix,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
}

// RigEditor is a city that can add rigs to its city.toml and remove them. Comments and all other tables of the file
// are kept. A remote city may not implement it.
type RigEditor interface {
	AddRig(ctx context.Context, r NewRig) (Receipt, error)
	// RemoveRig removes a rig from city.toml, but not its folder. It fails if the rig has agents or work in progress.
	RemoveRig(ctx context.Context, name string) (Receipt, error)
}
