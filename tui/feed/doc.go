// Package feed implements the goroutines of the control room. They read the city's streams, carry out effects, and run
// other programs in the terminal. They send results to the model through a Mailbox. The package does not depend on the
// model.
package feed
