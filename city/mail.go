package city

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gcity/beads"
	"gcity/internal/suggest"
	"gcity/mail"
)

// MailCount counts a recipient's messages. It does not count archived ones.
type MailCount struct {
	Unread int `json:"unread"`
	Total  int `json:"total"`
}

// MailTally counts messages by address.
type MailTally map[string]MailCount

// Add counts a bead if it is a message that is not archived.
func (t MailTally) Add(b beads.Bead) { t.add(b, 1) }

func (t MailTally) add(b beads.Bead, times int) {
	m, ok := mail.FromBead(b)
	if !ok || m.Archived {
		return
	}
	n := t[m.To]
	n.Total += times
	if !m.Read {
		n.Unread += times
	}
	t[m.To] = n
}

// TallyMail counts all unarchived messages in a store.
func TallyMail(ctx context.Context, store beads.Store) (MailTally, error) {
	t, err := MailTally{}, errors.ErrUnsupported
	if by, ok := store.(beads.ShareCounter); ok {
		var shares []beads.Share
		shares, err = by.Tally(ctx, mail.Query(""))
		for _, s := range shares {
			t.add(beads.Bead{Type: mail.Type, Status: beads.StatusOpen, Assignee: s.Assignee,
				Labels: s.Labels}, s.N)
		}
	}
	if errors.Is(err, errors.ErrUnsupported) {
		var all []beads.Bead
		all, err = store.List(ctx, mail.Query(""))
		for _, b := range all {
			t.Add(b)
		}
	}
	return t, err
}

// Merge adds the counts of another tally.
func (t MailTally) Merge(o MailTally) {
	for to, n := range o {
		have := t[to]
		t[to] = MailCount{have.Unread + n.Unread, have.Total + n.Total}
	}
}

// CountMail sets the message counts in a snapshot before it is published. An agent's count includes messages to its
// pool.
func (s *Snapshot) CountMail(t MailTally) {
	s.Mail = MailCount{}
	if len(t) == 0 {
		return
	}
	for i := range s.Agents {
		a := &s.Agents[i]
		a.Mail = t[a.Name].Unread
		if a.Pool != "" {
			a.Mail += t[mail.PoolPrefix+a.Pool].Unread
		}
	}
	for to, n := range t {
		if s.IsUserAddress(to) {
			s.Mail.Unread += n.Unread
			s.Mail.Total += n.Total
		}
	}
}

// IsUserAddress reports whether an address belongs to no agent and no pool.
func (s *Snapshot) IsUserAddress(to string) bool {
	if name, pool := strings.CutPrefix(to, mail.PoolPrefix); pool {
		_, known := s.Pool(name)
		return !known
	}
	if _, known := s.Agent(to); known {
		return false
	}
	return !slices.ContainsFunc(s.Pools, func(p Pool) bool { return p.mayHave(to) })
}

func (p *Pool) mayHave(name string) bool {
	if p.Max == 1 {
		return name == p.Name
	}
	n, ok := strings.CutPrefix(name, p.Name+"-")
	i, err := strconv.Atoi(n)
	return ok && err == nil && i >= 1 && i <= p.Max && n == strconv.Itoa(i)
}

// Address resolves the recipient of mail: an agent or a pool, by its qualified name or an unambiguous last part, or
// "pool:NAME". In Gas City, a name may end with a slash or contain an import, as in "RIG/IMPORT.NAME"; Address accepts
// both. It returns any other name unchanged, as the name of a user. Errors are *Error.
func (s *Snapshot) Address(name string) (string, error) {
	name = strings.TrimSpace(name)
	pool, forced := strings.CutPrefix(name, mail.PoolPrefix)
	plain := strings.TrimSuffix(name, "/")
	var found []string
	for _, form := range []string{name, plain, withoutImport(plain)} {
		if found = s.addresses(form); len(found) > 0 {
			break
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", Errorf(Invalid, "%.60q is ambiguous; use %s", name,
			choices(found))
	case forced:
		return "", Missing(suggest.NotFound(suggest.Pool, pool, s.Names(suggest.Pool)))
	}
	return name, nil
}

// withoutImport returns RIG/NAME for RIG/IMPORT.NAME.
func withoutImport(name string) string {
	at := strings.LastIndexAny(name, "/:") + 1
	_, bare, _ := strings.Cut(name[at:], ".")
	if bare == "" {
		return name
	}
	return name[:at] + bare
}

// addresses returns the agents and pools with a name.
func (s *Snapshot) addresses(name string) []string {
	pool, forced := strings.CutPrefix(name, mail.PoolPrefix)
	var found []string
	for _, whole := range []bool{true, false} {
		is := func(qualified, name string) bool {
			return whole && qualified == name || !whole && strings.HasSuffix(qualified, "/"+name)
		}
		for i := range s.Agents {
			if !forced && is(s.Agents[i].Name, name) {
				found = append(found, s.Agents[i].Name)
			}
		}
		for i := range s.Pools {
			p := &s.Pools[i]
			switch {
			case whole && !forced && p.Max != 1 && p.mayHave(name):
				found = append(found, name)
			case is(p.Name, pool) && (forced || p.Max != 1 || !slices.Contains(found, p.Name)):
				found = append(found, mail.PoolPrefix+p.Name)
			}
		}
		if slices.Sort(found); len(found) > 0 {
			break
		}
	}
	return slices.Compact(found)
}

func choices(all []string) string {
	text := ""
	for i, to := range all {
		what := "agent"
		if strings.HasPrefix(to, mail.PoolPrefix) {
			what = "pool"
		}
		switch {
		case i == len(all)-1 && i > 1:
			text += ", or "
		case i == len(all)-1:
			text += " or "
		case i > 0:
			text += ", "
		}
		text += to + " for the " + what
	}
	return text
}

// Sender returns the sender of a message, or "" if the bead is not a message.
func (c CreateBead) Sender() string {
	m, _ := mail.FromBead(c.Bead)
	return m.From
}

// SendMail sends a message. m.To can be any name that Address accepts. An empty m.From is a user.
func SendMail(ctx context.Context, c Control, m mail.Message) (Receipt, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return Receipt{}, err
	}
	if m.To, err = s.Address(m.To); err != nil {
		return Receipt{}, err
	}
	if err := mail.Check(m); err != nil {
		return Receipt{}, Errorf(Invalid, "%v", err)
	}
	r, err := c.Do(ctx, CreateBead{Bead: mail.ToBead(m)})
	if err != nil {
		return r, err
	}
	r.Message = "sent"
	if r.Bead != nil {
		r.Message += " " + r.Bead.ID
	}
	r.Message += " to " + m.To + s.unread(m.To)
	return r, nil
}

// unread returns a clause that explains why mail to the address will not be read now, or "".
func (s *Snapshot) unread(to string) string {
	if name, pool := strings.CutPrefix(to, mail.PoolPrefix); pool {
		p, ok := s.Pool(name)
		if ok && p.Suspended {
			return fmt.Sprintf("; the pool is suspended %s; its members will read the message "+
				"when it is resumed", p.SuspendedReason)
		}
		// Since is zero without a controller; then no pool has members
		onlyWork := ok && !p.Since.IsZero() && p.Max > 0 && p.Min == 0 && p.Desired == 0 &&
			p.Check.Command == ""
		if onlyWork && !slices.ContainsFunc(s.Agents, func(a Agent) bool {
			return a.Pool == name
		}) {
			return fmt.Sprintf("; the pool has no members, and mail does not start one; `gcity "+
				"pool scale %s 1` does", name)
		}
		return ""
	}
	a, ok := s.Agent(to)
	switch {
	case ok && a.Suspended:
		where := ""
		if a.State == Suspended {
			where = " " + a.Reason
		}
		return fmt.Sprintf("; the agent is suspended%s and will read the message when "+
			"it is resumed", where)
	case ok || to == mail.Person:
		return ""
	case s.IsUserAddress(to):
		return fmt.Sprintf("; no agent or pool has the name %q%s, so the message will wait for a "+
			"user with that name", to, s.nearAddress(to))
	}
	return "; this pool member is not running and will read the message when it runs again"
}

// nearAddress returns a question in parentheses that suggests the nearest name of an agent, a pool or the user, or "".
func (s *Snapshot) nearAddress(to string) string {
	near := suggest.Nearest(to, slices.Concat(s.Names(suggest.Agent), s.Names(suggest.Pool),
		[]string{mail.Person}))
	if near == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}

// Mail returns the unread messages to an address, newest first, and read messages if all is true. Address resolves the
// recipient. An agent also gets its pool's messages that no other member has taken. The address "" selects the messages
// for users.
func Mail(ctx context.Context, c Control, to string, all bool) ([]mail.Message, error) {
	s, err := c.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	query := mail.UnreadQuery
	if all {
		query = mail.Query
	}
	found, err := mailAt(ctx, c, s, to, query)
	if err != nil {
		return nil, WorkError(err)
	}
	out := []mail.Message{}
	for _, b := range found {
		if m, ok := mail.FromBead(b); ok && (to != "" || s.IsUserAddress(m.To)) {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b mail.Message) int { return b.Sent.Compare(a.Sent) })
	return out, nil
}

func mailAt(ctx context.Context, c Control, s *Snapshot, to string,
	query func(to string) beads.Query) ([]beads.Bead, error) {
	if to == "" {
		return c.Beads(ctx, query(""))
	}
	to, err := s.Address(to)
	if err != nil {
		return nil, err
	}
	found, err := c.Beads(ctx, query(to))
	if err != nil {
		return nil, err
	}
	if pool := s.PoolOf(to); pool != "" {
		more, err := c.Beads(ctx, query(mail.PoolPrefix+pool))
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// MayRead reports whether a reader may read a message. Agents may read their pool's messages. Users ("") may read
// messages to users.
func (s *Snapshot) MayRead(m mail.Message, reader string) bool {
	if reader == "" {
		return s.IsUserAddress(m.To)
	}
	return m.To == reader || s.PoolOf(reader) != "" && m.To == mail.PoolPrefix+s.PoolOf(reader)
}

// InPoolMail reports whether a message was sent to the agent's pool, even if a member has taken it.
func (s *Snapshot) InPoolMail(m mail.Message, agent string) bool {
	pool := mail.PoolPrefix + s.PoolOf(agent)
	return pool != mail.PoolPrefix && (m.To == pool || m.TakenFrom == pool)
}

// PoolOf returns the pool that an agent is a member of, or "".
func (s *Snapshot) PoolOf(agent string) string {
	if a, ok := s.Agent(agent); ok {
		return a.Pool
	}
	if i := slices.IndexFunc(s.Pools, func(p Pool) bool { return p.mayHave(agent) }); i >= 0 {
		return s.Pools[i].Name
	}
	return ""
}

// GetMail returns a message and its bead. If the bead is not a message, the error has code NotFound.
func GetMail(ctx context.Context, c Control, id string) (mail.Message, beads.Bead, error) {
	b, err := GetBead(ctx, c, id)
	if e, ok := errors.AsType[*Error](err); ok && e.Code == NotFound {
		err = Missing(suggest.NoSuch(suggest.Message, id))
	}
	if err != nil {
		return mail.Message{}, b, err
	}
	m, ok := mail.FromBead(b)
	if !ok {
		return m, b, Errorf(NotFound,
			"bead %s is not a message but has type %s; `gcity bead show %s` prints it", id, b.Type,
			id)
	}
	return m, b, nil
}

// ReadMail returns a message and marks it as read.
func ReadMail(ctx context.Context, c Control, id string) (mail.Message, error) {
	m, _, err := GetMail(ctx, c, id)
	if err != nil || m.Read {
		return m, err
	}
	if _, err = c.Do(ctx, UpdateBead{ID: id, Patch: mail.ReadPatch()}); err != nil {
		return m, err
	}
	m.Read = true
	return m, nil
}

// TakeMail is like ReadMail, for an agent. A message to the agent's pool then belongs to the agent. If it belongs to
// another member, the error has code Conflict.
func TakeMail(ctx context.Context, c Control, id, by string) (mail.Message, error) {
	m, b, err := GetMail(ctx, c, id)
	if err != nil {
		return m, err
	}
	if by == "" || m.To == by || !m.OfPool() {
		return ReadMail(ctx, c, id)
	}
	s, err := c.Snapshot(ctx)
	if err != nil {
		return m, err
	}
	switch {
	case !s.InPoolMail(m, by):
		return ReadMail(ctx, c, id)
	case m.To != mail.PoolPrefix+s.PoolOf(by):
		return m, takenError(id, m.To)
	}
	p := mail.TakePatch(b, by)
	p.AddLabels = mail.ReadPatch().AddLabels
	switch _, err = c.Do(ctx, UpdateBead{ID: id, Patch: p}); {
	case HasCode(err, Conflict):
		return m, takenError(id, "another member of the pool")
	case err != nil:
		return m, err
	}
	m.Read, m.To, m.TakenFrom = true, by, m.To
	return m, nil
}

func takenError(id, by string) error {
	return Errorf(Conflict, "%s has taken message %s, so it is not for you; `gcity mail peek %s` "+
		"shows it", by, id, id)
}

// TakePoolMail returns a message. If it was sent to the agent's pool, but not by the agent, TakePoolMail is like
// TakeMail, because members may act on a message that they have only been shown.
func TakePoolMail(ctx context.Context, c Control, id, by string) (mail.Message, error) {
	m, _, err := GetMail(ctx, c, id)
	if err != nil || by == "" || m.From == by || !m.OfPool() {
		return m, err
	}
	s, err := c.Snapshot(ctx)
	if err != nil || !s.InPoolMail(m, by) {
		return m, err
	}
	return TakeMail(ctx, c, id, by)
}

// ArchiveMail archives a message for an agent, or for a user if by is "". The agent also takes the message; see
// TakePoolMail.
func ArchiveMail(ctx context.Context, c Control, id, by string) (Receipt, error) {
	m, b, err := GetMail(ctx, c, id)
	if err != nil {
		return Receipt{}, err
	}
	if m.Archived {
		return Receipt{Message: id + " is already archived", Bead: &b}, nil
	}
	if _, err := TakePoolMail(ctx, c, id, by); err != nil {
		return Receipt{}, err
	}
	r, err := c.Do(ctx, UpdateBead{ID: id, Patch: mail.ArchivePatch()})
	if err == nil {
		r.Message = "archived " + id
	}
	return r, err
}
