/** Slopes of power on commands, finer and slower than the whole percents of 704.WRmp and 704.VarRmp. */

/**
 * How fast power follows commands, percent per second: active power of 702.WMax, reactive power of the larger of
 * 702.VarMaxInj and VarMaxAbs. null: as 704.WRmp and 704.VarRmp say.
 */
export interface Gradient {
  readonly wPctPerS: number | null;
  readonly varPctPerS: number | null;
}

/** Range of a gradient, percent per second: from 11 days over the full range to the fastest of 704.WRmp. */
export const gradientRange = { min: 1e-4, max: 1000 } as const;

/** The slope in force for one kind of power. */
export interface Slope {
  /** as in `Gradient`; of 704.WRmpRef A_MAX converted to percent of 702.WMax */
  readonly pctPerS: number;
  /** a gradient of a command or of the profile, or the register */
  readonly source: 'gradient' | 'register';
}
