"""One pure judge a check: `judge(evidence, limits, now) -> Judged`. `now` is in milliseconds since 1970 (UTC).

1. Fresh means 0 <= age <= limit: exactly at a limit is no breach, an age is never made positive, and what is dated
   ahead of the clock is a finding of its own, since it proves nothing.
2. `first that holds` is the order of the lines in the judge.
"""
