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

// Page collects the lines of a detail view.
type Page struct {
	*Styles
	Lines []string
}

// Add adds lines.
func (p *Page) Add(lines ...string) { p.Lines = append(p.Lines, lines...) }

// Show adds a field.
func (p *Page) Show(name, value string) { p.Add(p.Field(name, value)) }

// ShowKnown adds a field unless its value is empty.
func (p *Page) ShowKnown(name, value string) {
	if value != "" {
		p.Show(name, value)
	}
}

// ShowPlain adds a field. It makes the value safe to print.
func (p *Page) ShowPlain(name, value string) { p.Show(name, Plain(value)) }

// ShowKnownPlain is like ShowPlain, but adds nothing if the value is empty.
func (p *Page) ShowKnownPlain(name, value string) { p.ShowKnown(name, Plain(value)) }

// ShowAll adds a field with several lines.
func (p *Page) ShowAll(name string, values []string) {
	for _, value := range values {
		p.Show(name, value)
		name = ""
	}
}

// Heading adds an empty line and a heading.
func (p *Page) Heading(text string) { p.Add("", p.Paint(themes.Title, text)) }

// Dim adds a line in a subdued color.
func (p *Page) Dim(text string) { p.Add(p.Paint(themes.Dim, text)) }
