// Package widget holds the building blocks of the control room: styles and styled lines, text that is cut and
// wrapped by columns, lists with a cursor, tables with marks and filters, orders, sparklines, frames and lines being
// typed.
//
// Nothing here knows the model, performs I/O or reads a clock: callers pass the time. A value belongs to the
// goroutine that draws the control room.
package widget
