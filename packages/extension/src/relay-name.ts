/** The name of the ports between a page's relay and the worker. */

export const RELAY = 'relay';
