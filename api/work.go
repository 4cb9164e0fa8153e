package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/city/verb"
)

type workHandlers struct{ *server }

func (h workHandlers) beads(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	if r.URL.Query().Get("limit") == wire.Everything {
		return h.allBeads(w, r)
	}
	return h.answer(h.beadPage)(w, r, rt)
}

// allBeads sends all beads that a query selects. It reads and sends them in parts, because they might not fit into the
// controller's memory.
func (h workHandlers) allBeads(w http.ResponseWriter, r *http.Request) error {
	of, err := beadQuery(r)
	if err != nil {
		return err
	}
	snap, err := h.requestedSnapshot(r, func(current *city.Snapshot) error {
		of.Limit = 1
		_, err := gascity.Beads(r.Context(), h.city, current, r.URL.Query(), of)
		return err
	})
	if err != nil {
		return err
	}
	of.Limit = wire.MaxLines // not lower, because bd and scripts read the whole store for each part
	limit := &writeLimit{timeout: h.o.WriteTimeout}
	lead := `{"items":[`
	for total := 0; ; lead = "," {
		part, err := gascity.Beads(r.Context(), h.city, snap, r.URL.Query(), of)
		switch {
		case err != nil && total == 0:
			return err
		case part.Next == "" && total == 0:
			h.ok(w, snap, part)
			return nil
		}
		items, encodeErr := json.Marshal(part.Items)
		if err = errors.Join(err, encodeErr); err != nil {
			h.o.Log.Warn("cannot send all beads", "err", err)
			panic(http.ErrAbortHandler) // part of the response might have been sent
		}
		if total == 0 {
			w.Header().Set("X-GC-Index", strconv.FormatUint(snap.Index(), 10))
			writeHead(w, http.StatusOK, "application/json")
		}
		var text []byte
		if total += part.Total; part.Total > 0 {
			text = append([]byte(lead), items[1:len(items)-1]...)
		}
		if part.Next == "" {
			text = fmt.Appendf(text, "],\"total\":%d}\n", total)
		}
		if writePieces(w, text, limit) != nil || part.Next == "" {
			return nil
		}
		of.Before = part.Next
	}
}

func (h workHandlers) beadPage(q *query) (any, error) {
	of, err := beadQuery(q.Request)
	if err != nil {
		return nil, err
	}
	return gascity.Beads(q.Context(), h.city, q.snap, q.URL.Query(), of)
}

func beadQuery(r *http.Request) (beads.Query, error) {
	v := r.URL.Query()
	q := beads.Query{
		Labels: given(v["label"]), NotLabel: v.Get("not_label"),
		Type: v.Get("type"), NotType: splitLists(v["not_type"]),
		Assignee: v.Get("assignee"),
		Parent:   v.Get("parent"), Ref: v.Get("ref"), Before: v.Get("cursor"),
	}
	for _, s := range splitLists(v["status"]) {
		status := queriedStatus(s)
		if !status.Valid() {
			return q, wire.Invalid("status=%.40q is invalid: use open, in_progress or closed", s)
		}
		q.Status = append(q.Status, status)
	}
	var err error
	if q.Ready, _, err = flag(r, "ready"); err != nil {
		return q, err
	}
	if q.Assigned, _, err = flag(r, "assigned"); err != nil {
		return q, err
	}
	if q.ClosedSince, err = moment("closed_since", v.Get("closed_since")); err != nil {
		return q, err
	}
	if q.CreatedUntil, err = moment("created_until", v.Get("created_until")); err != nil {
		return q, err
	}
	if v.Get("limit") == wire.Everything {
		q.Limit = -1
		return q, nil
	}
	limit, err := number(r, "limit", math.MaxInt32)
	if err == nil && limit == 0 && v.Get("limit") != "" {
		err = wire.Invalid("limit=0 is invalid; use limit=%s to list all beads", wire.Everything)
	}
	q.Limit = int(limit)
	return q, err
}

func moment(name, text string) (t time.Time, err error) {
	if text == "" {
		return t, nil
	}
	if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
		err = wire.Invalid("%s=%q is not a time: use the form 2026-01-02T15:04:05Z", name, text)
	}
	return t, err
}

// queriedStatus converts a status in a query. Other clients say "hooked" for work in progress.
func queriedStatus(s string) beads.Status {
	if s == "hooked" {
		return beads.StatusInProgress
	}
	return beads.Status(s)
}

// splitLists returns the items of lists that are separated by commas.
func splitLists(lists []string) []string {
	return given(strings.Split(strings.Join(lists, ","), ","))
}

func given(values []string) (out []string) {
	for _, v := range values {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

func (h workHandlers) bead(q *query) (any, error) {
	return city.Locate(q.Context(), h.city, q.Target)
}

func (h workHandlers) createBead(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return wire.Invalid(`the body must be a bead: {"title": "what is to be done"}`)
	}
	rig, b, err := gascity.TakeRig(b, r.URL.Query().Get("rig"))
	if err != nil {
		return err
	}
	body := slices.Concat([]byte(`{"rig":`), rig, []byte(`,"bead":`), b, []byte("}"))
	c, err := verb.Decode(city.CreateBead{}.Verb(), "", body)
	if err != nil {
		return err
	}
	receipt, err := h.execute(r, c)
	if err != nil || receipt.Bead == nil {
		return h.result(w, receipt, err)
	}
	h.reply(w, http.StatusOK, gascity.CreatedBead{Receipt: receipt, Bead: *receipt.Bead})
	return nil
}

// change is the body of a PATCH: a patch, or fields that Gas City's clients use instead.
type change struct {
	beads.Patch
	Labels   []string          `json:"labels"`   // labels to add
	Metadata map[string]string `json:"metadata"` // metadata keys to set; other keys stay
}

func (h workHandlers) patchBead(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	if len(b) == 0 {
		return wire.Invalid(
			`the body must be a patch: {"status": "in_progress", "add_labels": ["…"]}`)
	}
	var in change
	if err := city.DecodeBody(b, &in); err != nil {
		return err
	}
	in.AddLabels = append(in.AddLabels, in.Labels...)
	for k, v := range in.Metadata {
		if in.SetMetadata == nil {
			in.SetMetadata = map[string]string{}
		}
		in.SetMetadata[k] = v
	}
	force, _, err := flag(r, "force")
	if err != nil {
		return err
	}
	return h.perform(w, r, city.UpdateBead{ID: rt.Target, Patch: in.Patch, Force: force})
}

// closeBead closes a bead. With force=true, it closes even a molecule that has open steps; the steps stay open.
func (h workHandlers) closeBead(w http.ResponseWriter, r *http.Request, rt wire.Route) error {
	b, err := body(w, r)
	if err != nil {
		return err
	}
	if len(b) > 0 && string(b) != "{}" && string(b) != "null" {
		return wire.Invalid("close takes no body; use PATCH to change the bead")
	}
	force, _, err := flag(r, "force")
	if err != nil {
		return err
	}
	return h.perform(w, r, city.UpdateBead{ID: rt.Target, Patch: beads.Closing(), Force: force})
}
