/** ReservationStatusUpdate: told at once, or when the station is accepted again. OCPP 2.0.1 H01 and H04. */
import type { ReservationUpdateStatusEnum } from '../messages.ts';
import type { StationParts } from '../parts.ts';

export interface Notices {
  tell(reservationId: number, status: ReservationUpdateStatusEnum): void;
  load(): void;
  stop(): void;
}

/** untold ones that are kept */
const maxUntold = 100;

export function createNotices({ calls, registration }: StationParts): Notices {
  const untold = new Map<number, ReservationUpdateStatusEnum>();
  let endListening: (() => void) | null = null;
  const tell = async (reservationId: number, reservationUpdateStatus: ReservationUpdateStatusEnum) => {
    const { kind } = await calls.send('ReservationStatusUpdate', { reservationId, reservationUpdateStatus });
    if (kind !== 'unsent' && kind !== 'lost') return;
    untold.set(reservationId, reservationUpdateStatus);
    const [oldest] = untold.keys();
    if (untold.size > maxUntold && oldest !== undefined) untold.delete(oldest);
  };
  return {
    tell: (reservationId, status) => void tell(reservationId, status),
    load() {
      endListening = registration.onAccepted(() => {
        const waiting = [...untold];
        untold.clear();
        for (const [reservationId, status] of waiting) void tell(reservationId, status);
      });
    },
    stop() {
      endListening?.();
    },
  };
}
