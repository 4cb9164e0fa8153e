package gascity

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
	"gcity/mail"
)

func mailOperations() []Operation {
	return []Operation{
		{openapi.Operation{
			Method: "GET", Path: "/v0/mail/count", Query: "index wait to agent rig",
			Response: city.MailCount{},
			Summary:  "The number of messages, to an address or in total",
		}, countMail, false},
		{openapi.Operation{
			Method: "GET", Path: "/v0/mail/thread/{message}", Query: "index wait rig",
			Response: mail.Message{}, List: true,
			Summary: "The messages in a thread, oldest first",
		}, thread, false},
		{openapi.Operation{
			Method: "POST", Path: "/v0/mail/{message}/mark-unread", Response: mail.Message{},
			Summary: "Mark a message as unread",
		}, markUnread, false},
	}
}

// Mail returns the messages to the address in the query parameter "to" or "agent", or to all addresses if both are
// missing. Unless all is true, it returns only unread messages.
func Mail(ctx context.Context, c city.Control, v url.Values, all bool) ([]mail.Message, error) {
	if to := cmp.Or(v.Get("to"), v.Get("agent")); to != "" || v.Has("to") {
		return city.Mail(ctx, c, to, all)
	}
	found, err := c.Beads(ctx, mail.Query(""))
	if err != nil {
		return nil, city.WorkError(err)
	}
	out := []mail.Message{}
	for _, b := range found {
		if m, ok := mail.FromBead(b); ok && (all || !m.Read) {
			out = append(out, m)
		}
	}
	return out, nil
}

func countMail(ctx context.Context, r *Request) (any, error) {
	found, err := Mail(ctx, r.City, r.Query, true)
	if err != nil {
		return nil, err
	}
	n := city.MailCount{Total: len(found)}
	for i := range found {
		if !found[i].Read {
			n.Unread++
		}
	}
	return n, nil
}

// thread accepts the ID of any message in the thread.
func thread(ctx context.Context, r *Request) (any, error) {
	first, _, err := city.GetMail(ctx, r.City, r.Target)
	if err != nil {
		return nil, err
	}
	id := cmp.Or(first.Thread, first.ID)
	if id != first.ID {
		if m, _, err := city.GetMail(ctx, r.City, id); err == nil {
			first = m
		}
	}
	found, err := r.City.Beads(ctx, mail.ThreadQuery(id))
	if err != nil {
		return nil, city.WorkError(err)
	}
	out := []mail.Message{first}
	for _, b := range found {
		if m, ok := mail.FromBead(b); ok && m.ID != first.ID {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b mail.Message) int {
		return cmp.Or(a.Sent.Compare(b.Sent), strings.Compare(a.ID, b.ID))
	})
	return listOf(out), nil
}

func markUnread(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	m, _, err := city.GetMail(ctx, r.City, r.Target)
	if err != nil || !m.Read {
		return m, err
	}
	if _, err := r.Do(ctx, city.UpdateBead{ID: m.ID, Patch: mail.UnreadPatch()}); err != nil {
		return nil, err
	}
	m.Read = false
	return m, nil
}

// Sling is the body of a request to assign work.
type Sling struct {
	city.SlingRequest
	Rig string `json:"rig"`
}

// In returns the request with its target resolved in the rig. Without a target, the rig is the target.
func (s Sling) In(snap *city.Snapshot) (city.SlingRequest, error) {
	req := s.SlingRequest
	if s.Rig == "" {
		return req, nil
	}
	if _, err := rigOf(snap, s.Rig); err != nil {
		return req, err
	}
	if req.Target == "" {
		req.Target = s.Rig
		return req, nil
	}
	inRig := s.Rig + "/" + req.Target
	_, agent := snap.Agent(inRig)
	if _, pool := snap.Pool(inRig); agent || pool {
		req.Target = inRig
	}
	return req, nil
}

// Sent is the response to a request to send a message: the receipt and the message's ID.
type Sent struct {
	city.Receipt
	ID string `json:"id"`
}

// SentOf returns the response to a request to send a message.
func SentOf(r city.Receipt) Sent {
	out := Sent{Receipt: r}
	if r.Bead != nil {
		out.ID = r.Bead.ID
	}
	return out
}
