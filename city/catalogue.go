package city

import "context"

// Catalogued is a city that can check the configuration on disk and list its formulas.
type Catalogued interface {
	// Validate checks the configuration on disk. It has no side effects.
	Validate(ctx context.Context) (Validation, error)
	// Formulas lists the formulas of the city or, if rig is not "", of a rig, sorted by name.
	Formulas(ctx context.Context, rig string) ([]Formula, error)
}

// Validation contains the errors and warnings for a configuration, with *** in place of secrets.
type Validation struct {
	Valid    bool     `json:"valid"`
	Errors   []string `json:"errors"`   // each with its file and line, if known; never null
	Warnings []string `json:"warnings"` // like Errors; never null
}

// Formula is an entry in the list of formulas.
type Formula struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Version     string `json:"version,omitempty"`
	// "" = the city
	Rig      string       `json:"rig,omitempty"`
	Layer    string       `json:"layer"` // for users: "city", "rig demo"
	Source   string       `json:"source"`
	Vars     []FormulaVar `json:"vars"` // never null
	Steps    int          `json:"steps"`
	Problem  string       `json:"problem,omitempty"` // why the formula cannot be used
	Warnings []string     `json:"warnings,omitempty"`
}

// FormulaVar is a variable of a formula.
type FormulaVar struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required"`
	Default     string `json:"default,omitempty"`
}

// NewRig is a rig that a client wants to add.
type NewRig struct {
	Name string `json:"name"`
	Path string `json:"path"` // absolute, or relative to the city's folder
	// prefix of the bead IDs; "" = derived from the name
	Prefix    string `json:"prefix,omitempty"`
	Suspended bool   `json:"suspended,omitempty"`
}

// RigEditor is a city that can add rigs to its city.toml and remove them.
type RigEditor interface {
	AddRig(ctx context.Context, r NewRig) (Receipt, error)
	// RemoveRig removes a rig from city.toml, but not its folder. It fails if the rig has agents or work in progress.
	RemoveRig(ctx context.Context, name string) (Receipt, error)
}
