package agent

import (
	"cmp"
	"strings"

	"gcity/config"
	"gcity/prompt"
	"gcity/session"
)

// addInstructions adds m's prompt template and the values for it to p. If m is a member of a pool, a is the pool;
// otherwise, a is m itself.
func addInstructions(c *config.City, a, m *config.Agent, p Prompt, s *session.Spec) Prompt {
	if a.Prompt == nil {
		return p
	}
	p.File = a.PromptTemplate
	own := make(map[string]string, len(a.Env))
	for name := range a.Env {
		if at, ok := find(s.Env, name); ok {
			_, own[name], _ = strings.Cut(s.Env[at], "=")
		}
	}
	p.Draft = &prompt.Draft{Template: a.Prompt, Values: prompt.Values{
		CityRoot: c.Path, AgentName: m.Qualified(), TemplateName: a.Name, RigName: a.Rig,
		WorkDir: s.Dir, IssuePrefix: c.PrefixOf(a.Rig),
		WorkQuery:  cmp.Or(a.WorkQuery, "gc hook"),
		SlingQuery: cmp.Or(a.SlingQuery, "gc sling "+a.Qualified()+" {}"),
		Env:        own, Session: c.SessionOf,
	}}
	return p
}
