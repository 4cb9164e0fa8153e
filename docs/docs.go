// Package docs embeds the pages of the documentation, so that gcity can show them.
package docs

import "embed"

//go:embed *.md
var pages embed.FS

// Page returns the text of a page, or "" for an unknown name.
func Page(name string) string {
	text, err := pages.ReadFile(name + ".md")
	if err != nil {
		return ""
	}
	return string(text)
}
