package gascity

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"gcity/city"
)

// Resumes lists the query parameters that can contain the cursor of an event stream.
const Resumes = " after_seq after_cursor after cursor"

// Cursor returns the cursor after which a client's event stream continues.
func Cursor(r *http.Request) string {
	v := r.URL.Query()
	named := cmp.Or(v.Get("after_cursor"), v.Get("after_seq"), v.Get("after"), v.Get("cursor"))
	return cmp.Or(r.Header.Get("Last-Event-ID"), named)
}

// OldestFirst reports whether events are listed oldest first. Queries with "since" start with the oldest event by
// default.
func OldestFirst(v url.Values) (bool, error) {
	switch order := v.Get("order"); order {
	case "":
		paged := v.Has("after_seq") || v.Has("before_seq") || v.Has("before")
		return v.Get("since") != "" && !paged, nil
	case "asc":
		return true, nil
	case "desc":
		return false, nil
	default:
		return false, city.Errorf(city.Invalid, "order=%.40q is invalid: use \"asc\" (oldest "+
			"first) or \"desc\"", order)
	}
}

const unknownParameter = "unknown query parameter "

// IsUnknownParameter reports whether err is CheckQuery's error about an unknown query parameter. An older controller
// returns this error for a parameter that it does not have.
func IsUnknownParameter(err error) bool {
	return city.HasCode(err, city.Invalid) && strings.HasPrefix(err.Error(), unknownParameter)
}

// CheckQuery returns an error for an unknown query parameter and for a query that cannot be parsed. If they were
// ignored, the response would look correct.
func CheckQuery(query string, known []string) error {
	v, err := url.ParseQuery(query)
	if err != nil {
		return city.Errorf(city.Invalid, "the query cannot be parsed: %v; escape special "+
			"characters in the values of parameters, for example %% as %%25 and ; as %%3B", err)
	}
	for name := range v {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return city.Errorf(city.Invalid, unknownParameter+"%.40q: this request does "+
				"not take any", name)
		default:
			known = slices.Sorted(slices.Values(known))
			return city.Errorf(city.Invalid, unknownParameter+"%.40q: this request takes %s",
				name, strings.Join(known, ", "))
		}
	}
	return nil
}
