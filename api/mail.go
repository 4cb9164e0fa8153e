package api

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/mail"
)

type mailHandlers struct{ *server }

func (h mailHandlers) mail(q *query) (any, error) {
	v := q.URL.Query()
	all, _, err := flag(q.Request, "all")
	if err != nil {
		return nil, err
	}
	switch status := v.Get("status"); status {
	case "", "unread":
	case "all":
		all = true
	default:
		return nil, wire.Invalid("status=%.40q is invalid: use \"unread\" or \"all\"", status)
	}
	found, err := gascity.Mail(q.Context(), h.city, v, all)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b mail.Message) int {
		return newer(sentAs(&a), sentAs(&b))
	})
	if after := v.Get("cursor"); after != "" {
		if number, id, _ := strings.Cut(after, "-"); strings.Trim(number, "0123456789") != "" ||
			number == "" || beads.CheckID(id) != nil {
			return nil, wire.Invalid("cursor=%.40q is invalid: use next_cursor of the previous "+
				"page", after)
		}
	}
	return pageBy(q.Request, found, sentAs, newer)
}

func sentAs(m *mail.Message) string {
	return fmt.Sprintf("%019d-%s", max(0, m.Sent.UnixNano()), m.ID)
}

func newer(a, b string) int { return strings.Compare(b, a) }

// message serves a message without marking it as read.
func (h mailHandlers) message(q *query) (any, error) {
	m, _, err := city.GetMail(q.Context(), h.city, q.Target)
	return m, err
}

type sendRequest struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
	ReplyTo string `json:"reply_to"`
	// accepted but ignored, because the city's store contains all messages
	Rig string `json:"rig"`
}

func (h mailHandlers) sendMail(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	var d sendRequest
	if err := decode(w, r, &d); err != nil {
		return err
	}
	if d.ReplyTo != "" {
		return h.sendDraft(w, r, d)
	}
	if d.To == "" {
		return wire.Invalid(
			`the recipient is missing: {"to": "an agent, a pool or a user", ` +
				`"subject": "…", "body": "…"}`)
	}
	return h.send(w, r, mail.Message{From: d.From, To: d.To, Subject: d.Subject, Text: d.Body})
}

func (h mailHandlers) replyMail(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	var d sendRequest
	if err := decode(w, r, &d); err != nil {
		return err
	}
	d.ReplyTo = rt.Target
	return h.sendDraft(w, r, d)
}

func (h mailHandlers) sendDraft(w http.ResponseWriter, r *http.Request, d sendRequest) error {
	to, err := city.TakePoolMail(h.withPeer(r), h.city, d.ReplyTo, d.From)
	if err != nil {
		return err
	}
	m := mail.Reply(to, d.From, d.Body)
	m.To, m.Subject = cmp.Or(d.To, m.To), cmp.Or(d.Subject, m.Subject)
	return h.send(w, r, m)
}

func (h mailHandlers) send(w http.ResponseWriter, r *http.Request, m mail.Message) error {
	receipt, err := city.SendMail(h.withPeer(r), h.city, m)
	return h.result(w, gascity.SentOf(receipt), err)
}

type markRequest struct {
	By string `json:"by"`
}

// For a message to a pool, "by" names the agent that has read it.
func (h mailHandlers) markMail(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	var in markRequest
	if err := decode(w, r, &in); err != nil {
		return err
	}
	if rt.Kind == wire.KindArchive {
		receipt, err := city.ArchiveMail(h.withPeer(r), h.city, rt.Target, in.By)
		return h.result(w, receipt, err)
	}
	m, err := city.TakeMail(h.withPeer(r), h.city, rt.Target, in.By)
	return h.result(w, m, err)
}

func (h mailHandlers) sling(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	var in gascity.Sling
	if err := decode(w, r, &in); err != nil {
		return err
	}
	snap, err := h.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	req, err := in.In(snap)
	if err != nil {
		return err
	}
	receipt, err := city.Sling(h.withPeer(r), h.city, req)
	return h.result(w, receipt, err)
}

func decode(w http.ResponseWriter, r *http.Request, into any) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	return city.DecodeBody(b, into)
}
