/** Notices of captures: one that begins by hand, and each that is complete. Nothing opens by itself. */
import { get, perform, post, Problem } from '../../../api/call';
import { say, sayWithLink } from '../../../kit/notice';
import { refresh } from '../../../store/live';
import { href } from '../../../store/route';
import { onTimelineEntry } from '../../../store/timeline';

export const capturesCall = get('captures');
export const captureNowCall = post('captures');

export const captureHref = (id: number | string): string => href(`events/captures/${id}`);

/** Announces each capture that is complete from now on. */
export function announceCaptures(): void {
  onTimelineEntry(({ ref, text }) => {
    if (ref?.type === 'capture') sayWithLink(text, captureHref(ref.id));
  });
}

/** Captures the present, by the key of the page. */
export async function captureNow(): Promise<void> {
  try {
    const { id } = await perform(captureNowCall);
    sayWithLink(`Capture ${id} records`, captureHref(id));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(error.message);
  }
  refresh();
}
