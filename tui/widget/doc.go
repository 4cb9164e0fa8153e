// Package widget holds the building blocks of the control room: styles and styled lines, text cut and wrapped by
// columns, lists with a cursor, tables with marks and filters, orders, sparklines, frames and input lines.
//
// The package does not know the model, performs no I/O and reads no clock: callers pass the time. The goroutine
// that draws the control room owns all values.
package widget
