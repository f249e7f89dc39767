/** Constants of physics and of units. */
export const secondsPerHour = 3600;
/** 0 C in kelvin */
export const zeroCelsiusK = 273.15;
/** gas constant, J/(mol K) */
export const gasConstantJMolK = 8.314462618;
