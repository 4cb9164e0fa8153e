// Package guide shows the pages in docs on a terminal and converts them to manual pages.
package guide

import (
	"strings"

	"gcity/docs"
)

// Topic is a page of the documentation.
type Topic struct {
	Name  string // the argument of `gcity help`
	Group string
}

const (
	Start       = "Start here"
	Guides      = "Guides"
	Reference   = "Reference"
	Explanation = "Explanation"
)

// Topics returns all topics, in the order in which they are listed.
func Topics() []Topic {
	var out []Topic
	for _, g := range []struct{ group, names string }{
		{Start, "start"},
		{Guides, "room agents pools work mail automations watchdogs prompts changing-a-city " +
			"service cities topologies providers kubernetes stores backup gas-city trouble"},
		{Reference, "config keys states events files api script-protocol session-protocol"},
		{Explanation, "lifetime quarantine security benchmarks"},
	} {
		for name := range strings.FieldsSeq(g.names) {
			out = append(out, Topic{Name: name, Group: g.group})
		}
	}
	return out
}

// Find returns the topic with this name.
func Find(name string) (Topic, bool) {
	for _, t := range Topics() {
		if t.Name == name {
			return t, true
		}
	}
	return Topic{}, false
}

// Title returns the heading of the topic's page.
func (t Topic) Title() string {
	first, _, _ := strings.Cut(docs.Page(t.Name), "\n")
	return strings.TrimPrefix(first, "# ")
}

// Text returns the topic's page in Markdown.
func (t Topic) Text() string { return docs.Page(t.Name) }
