//! Rust source as text: what is code, what is a test.
//!
//! Belongs here: blanking comments and literals, finding tests and test code, finding words.
//! Does not belong here: what a check makes of them. rustfmt keeps the layout that is relied on:
//! one attribute a line, `mod name {` on a line of its own.

/// The source with every comment, string and character literal replaced by blanks; lines keep their numbers
/// and code keeps its columns, counted in characters.
pub fn blank(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let rest = &characters[at..];
        let previous = at.checked_sub(1).map(|before| characters[before]);
        let length = match rest {
            ['/', '/', ..] => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => block_comment(rest),
            ['"', ..] => string(rest),
            ['r' | 'b' | 'c', ..] if !previous.is_some_and(is_word) => prefixed_literal(rest),
            ['\'', ..] => character(rest),
            _ => 0,
        };
        if length == 0 {
            out.push(characters[at]);
            at += 1;
        } else {
            out.extend(rest[..length].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at += length;
        }
    }
    out
}

fn block_comment(rest: &[char]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest[at..] {
            ['/', '*', ..] => {
                depth += 1;
                at += 2;
            }
            ['*', '/', ..] => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

fn string(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r"…"`, `r#"…"#`, `b"…"`, `br#"…"#`, `c"…"`, `b'…'`; 0 when it is a word that begins with such a letter.
fn prefixed_literal(rest: &[char]) -> usize {
    let letters = rest.iter().take_while(|c| matches!(c, 'r' | 'b' | 'c')).count().min(2);
    let raw = rest[..letters].contains(&'r');
    let hashes = if raw { rest[letters..].iter().take_while(|&&c| c == '#').count() } else { 0 };
    let open = letters + hashes;
    match rest.get(open) {
        Some('"') if raw => {
            let mut at = open + 1;
            while at < rest.len() {
                if rest[at] == '"'
                    && rest[at + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
                {
                    return at + 1 + hashes;
                }
                at += 1;
            }
            rest.len()
        }
        Some('"') => letters + string(&rest[letters..]),
        Some('\'') if letters == 1 && rest[0] == 'b' => letters + character(&rest[letters..]),
        _ => 0,
    }
}

/// A character literal; 0 for a lifetime.
fn character(rest: &[char]) -> usize {
    match rest {
        ['\'', '\\', _, tail @ ..] => tail.iter().position(|&c| c == '\'').map_or(0, |end| end + 4),
        ['\'', _, '\'', ..] => 3,
        _ => 0,
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The numbers of the lines, from 1, of blanked source that hold `phrase` with no word character around it.
pub fn lines_with(blanked: &str, phrase: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, line) in blanked.lines().enumerate() {
        let alone = line.match_indices(phrase).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + phrase.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        });
        if alone {
            found.push(index + 1);
        }
    }
    found
}

/// Blanked source without its `#[cfg(test)]` items that have a body in braces.
pub fn without_tests(blanked: &str) -> String {
    let mut out = String::with_capacity(blanked.len());
    let mut rest = blanked;
    while let Some(at) = rest.find("#[cfg(test)]") {
        out.push_str(&rest[..at]);
        let item = &rest[at..];
        let end = match (item.find('{'), item.find(';')) {
            (Some(brace), semicolon) if semicolon.is_none_or(|semicolon| brace < semicolon) => {
                brace + closing_brace(&item[brace..])
            }
            (_, Some(semicolon)) => semicolon + 1,
            (_, None) => item.len(),
        };
        out.extend(item[..end].chars().filter(|&c| c == '\n'));
        rest = &item[end..];
    }
    out.push_str(rest);
    out
}

fn closing_brace(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// Whether a file holds tests only, by its path.
pub fn is_test_file(path: &str) -> bool {
    let is_test_folder = |part: &str| matches!(part, "tests" | "benches" | "examples");
    path.ends_with("/tests.rs") || path.split('/').any(is_test_folder) || path.starts_with("e2e/")
}

/// The names of the tests in a file, with the inline modules around them: `tests::name`. Ignored tests do not
/// count: what does not run proves nothing.
pub fn test_names(source: &str) -> Vec<String> {
    let blanked = blank(source);
    let mut modules: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    let mut is_test = false;
    let mut is_ignored = false;
    for line in blanked.lines() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let text = text.trim_end();
        if text.is_empty() {
            continue;
        }
        if text == "}" {
            modules.retain(|(at, _)| *at < indent);
        }
        if let Some(name) = module_opened(text) {
            modules.push((indent, name.to_owned()));
        }
        if text.starts_with("#[") {
            is_test |=
                text.starts_with("#[test]") || (text.contains("::test") && text.starts_with("#[tokio"));
            is_ignored |= text.starts_with("#[ignore");
            continue;
        }
        if is_test
            && !is_ignored
            && let Some(name) = function_named(text)
        {
            let mut path: Vec<&str> = modules.iter().map(|(_, name)| name.as_str()).collect();
            path.push(name);
            found.push(path.join("::"));
        }
        is_test = false;
        is_ignored = false;
    }
    found
}

fn module_opened(text: &str) -> Option<&str> {
    let text = text.strip_prefix("pub(crate) ").or_else(|| text.strip_prefix("pub ")).unwrap_or(text);
    let name = text.strip_prefix("mod ")?.strip_suffix('{')?.trim();
    name.chars().all(is_word).then_some(name)
}

fn function_named(text: &str) -> Option<&str> {
    let text = text.strip_prefix("pub ").unwrap_or(text);
    let text = text.strip_prefix("async ").unwrap_or(text);
    let text = text.strip_prefix("fn ")?;
    let end = text.find(|c| !is_word(c))?;
    (end > 0).then(|| &text[..end])
}

#[cfg(test)]
mod tests;
