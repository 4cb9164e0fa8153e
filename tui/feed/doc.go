// Package feed has the goroutines of the control room. They read the city's streams, carry out effects and lend the
// terminal to other programs. They send results through a Mailbox to the model, which this package does not know.
package feed
