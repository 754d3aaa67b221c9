-- TODO: Keep the daily extremes for ten years
-- TODO: Index samples by station and hour
-- FIXME: Samples with equal times replace each other
create table samples (station text, time integer, height real);
