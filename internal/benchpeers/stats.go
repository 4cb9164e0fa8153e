package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// metric is a row of the table. Smaller values are better.
type metric string

type table struct {
	rows     []metric
	managers []string
	values   map[metric]map[string][]float64
}

func newTable(managers []string) *table {
	return &table{managers: managers, values: map[metric]map[string][]float64{}}
}

func (t *table) add(row metric, manager string, value float64) {
	if t.values[row] == nil {
		t.values[row] = map[string][]float64{}
		t.rows = append(t.rows, row)
	}
	t.values[row][manager] = append(t.values[row][manager], value)
}

func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func cell(values []float64) string {
	switch len(values) {
	case 0:
		return "–"
	case 1:
		return number(values[0])
	}
	low, high := number(slices.Min(values)), number(slices.Max(values))
	if low == high {
		return low
	}
	return fmt.Sprintf("%s (%s–%s)", number(median(values)), low, high)
}

func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= 1:
		return fmt.Sprintf("%.2f", v)
	case v == 0:
		return "0"
	}
	return fmt.Sprintf("%.3f", v)
}

func ratio(own, other []float64) string {
	if len(own) == 0 || len(other) == 0 || median(other) == 0 {
		return "–"
	}
	return number(median(own)/median(other)) + "×"
}

func (t *table) best(row metric) []float64 {
	var best []float64
	for _, name := range t.managers {
		values := t.values[row][name]
		if name == gcityName || name == floorName || len(values) == 0 {
			continue
		}
		if best == nil || median(values) < median(best) {
			best = values
		}
	}
	return best
}

func (t *table) markdown() string {
	var b strings.Builder
	head := strings.Join(t.managers, " | ")
	fmt.Fprintf(&b, "| workload | %s | gcity / floor | gcity / best peer |\n", head)
	fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(t.managers)+3))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |", row)
		values := t.values[row]
		for _, name := range t.managers {
			fmt.Fprintf(&b, " %s |", cell(values[name]))
		}
		own := values[gcityName]
		fmt.Fprintf(&b, " %s | %s |\n", ratio(own, values[floorName]), ratio(own, t.best(row)))
	}
	return b.String()
}
