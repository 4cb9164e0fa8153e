package widget

import "gcity/themes"

// FieldWidth is the width of the column for the names of fields.
const FieldWidth = 12

// Field returns a line of a detail view: a name and a value, or "-" if the value is empty.
func (k *Styles) Field(name, value string) string {
	if value == "" {
		value = "-"
	}
	return k.Paint(themes.Dim, Fit(name, FieldWidth, "")) + value
}
