/** Durations and times of day in scenarios. */
import { z } from 'zod';

const secondsOf = { ms: 0.001, s: 1, min: 60, h: 3600, d: 86_400 } as const;
const durationForm = /^(\d+(?:\.\d+)?) ?(ms|s|min|h|d)$/;
export const durationText = 'must be seconds, or a number with ms, s, min, h or d, such as 90 s or 1.5 h';
const longestS = 366 * 86_400;

function seconds(given: string): number {
  const [, number = '', unit = 's'] = durationForm.exec(given) ?? [];
  return Number(number) * secondsOf[unit as keyof typeof secondsOf];
}

/** A duration in seconds, or text such as `90 s`; the result is seconds. */
export const duration = z
  .union([z.number().min(0).max(longestS), z.string().regex(durationForm, durationText)], { error: durationText })
  .transform((given) => (typeof given === 'number' ? given : seconds(given)))
  .refine((s) => s <= longestS, 'must be at most 366 d');

const timeOfDayForm = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;

/** `HH:MM` or `HH:MM:SS`; the result is seconds since midnight. */
export const timeOfDay = z
  .string()
  .regex(timeOfDayForm, 'must be HH:MM or HH:MM:SS, in quotes')
  .transform((text) => {
    const [, hours = '', minutes = '', s = '0'] = timeOfDayForm.exec(text) ?? [];
    return 3600 * Number(hours) + 60 * Number(minutes) + Number(s);
  });
