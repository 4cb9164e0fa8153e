// Package widget provides the building blocks of the control room: styles and styled lines, cutting and wrapping text
// by columns, lists with a cursor, tables with marks and filters, sort orders, sparklines, frames and input lines.
//
// The package does not depend on the model, performs no I/O and does not read the clock: callers pass the time. The
// goroutine that draws the control room owns all values.
package widget
