package api

import "gcity/city"

func pools(q *query) (any, error) {
	match := matching(q.Request)
	var items []city.Pool
	for _, p := range q.snap.Pools {
		if match("rig", p.Rig) {
			items = append(items, p)
		}
	}
	return page(q.Request, items, func(p *city.Pool) string { return p.Name })
}

func rigs(q *query) (any, error) {
	return page(q.Request, q.snap.Rigs, func(r *city.Rig) string { return r.Name })
}

func watchdogs(q *query) (any, error) {
	return page(q.Request, q.snap.Watchdogs, func(d *city.Watchdog) string { return d.Name })
}
