//! Equations (OMML) as LaTeX.
//!
//! Covers the elements of ECMA-376 part 1, 22.1.2. What is not known contributes the text
//! in it, so no letter of an equation is lost.

use super::xml::{Element, Piece};

/// Letters and signs with a name of their own.
const NAMES: &[(char, &str)] = &[
    ('α', "alpha"),
    ('β', "beta"),
    ('γ', "gamma"),
    ('δ', "delta"),
    ('ε', "varepsilon"),
    ('ϵ', "epsilon"),
    ('ζ', "zeta"),
    ('η', "eta"),
    ('θ', "theta"),
    ('ϑ', "vartheta"),
    ('ι', "iota"),
    ('κ', "kappa"),
    ('λ', "lambda"),
    ('μ', "mu"),
    ('ν', "nu"),
    ('ξ', "xi"),
    ('π', "pi"),
    ('ρ', "rho"),
    ('σ', "sigma"),
    ('ς', "varsigma"),
    ('τ', "tau"),
    ('υ', "upsilon"),
    ('φ', "varphi"),
    ('ϕ', "phi"),
    ('χ', "chi"),
    ('ψ', "psi"),
    ('ω', "omega"),
    ('Γ', "Gamma"),
    ('Δ', "Delta"),
    ('Θ', "Theta"),
    ('Λ', "Lambda"),
    ('Ξ', "Xi"),
    ('Π', "Pi"),
    ('Σ', "Sigma"),
    ('Υ', "Upsilon"),
    ('Φ', "Phi"),
    ('Ψ', "Psi"),
    ('Ω', "Omega"),
    ('∞', "infty"),
    ('∂', "partial"),
    ('∇', "nabla"),
    ('∆', "Delta"),
    ('±', "pm"),
    ('∓', "mp"),
    ('×', "times"),
    ('÷', "div"),
    ('⋅', "cdot"),
    ('·', "cdot"),
    ('∙', "bullet"),
    ('∗', "ast"),
    ('∘', "circ"),
    ('≤', "leq"),
    ('≥', "geq"),
    ('≠', "neq"),
    ('≈', "approx"),
    ('≡', "equiv"),
    ('∼', "sim"),
    ('≅', "cong"),
    ('∝', "propto"),
    ('≪', "ll"),
    ('≫', "gg"),
    ('→', "to"),
    ('←', "leftarrow"),
    ('↔', "leftrightarrow"),
    ('⇒', "Rightarrow"),
    ('⇐', "Leftarrow"),
    ('⇔', "Leftrightarrow"),
    ('↦', "mapsto"),
    ('∈', "in"),
    ('∉', "notin"),
    ('∋', "ni"),
    ('⊂', "subset"),
    ('⊆', "subseteq"),
    ('⊃', "supset"),
    ('⊇', "supseteq"),
    ('∪', "cup"),
    ('∩', "cap"),
    ('∅', "emptyset"),
    ('∀', "forall"),
    ('∃', "exists"),
    ('¬', "neg"),
    ('∧', "wedge"),
    ('∨', "vee"),
    ('⊕', "oplus"),
    ('⊗', "otimes"),
    ('⊥', "perp"),
    ('∥', "parallel"),
    ('∠', "angle"),
    ('…', "ldots"),
    ('⋯', "cdots"),
    ('⋮', "vdots"),
    ('⋱', "ddots"),
    ('ℏ', "hbar"),
    ('ℓ', "ell"),
    ('∑', "sum"),
    ('∏', "prod"),
    ('∐', "coprod"),
    ('∫', "int"),
    ('∬', "iint"),
    ('∭', "iiint"),
    ('∮', "oint"),
    ('⋃', "bigcup"),
    ('⋂', "bigcap"),
    ('⋁', "bigvee"),
    ('⋀', "bigwedge"),
    ('√', "surd"),
    ('ℝ', "mathbb{R}"),
    ('ℕ', "mathbb{N}"),
    ('ℤ', "mathbb{Z}"),
    ('ℚ', "mathbb{Q}"),
    ('ℂ', "mathbb{C}"),
    ('⟨', "langle"),
    ('⟩', "rangle"),
    ('⌊', "lfloor"),
    ('⌋', "rfloor"),
    ('⌈', "lceil"),
    ('⌉', "rceil"),
    ('‖', "Vert"),
];

/// Accents by their combining letters.
const ACCENTS: &[(char, &str)] = &[
    ('\u{302}', "hat"),
    ('^', "hat"),
    ('\u{303}', "tilde"),
    ('~', "tilde"),
    ('\u{304}', "bar"),
    ('\u{305}', "overline"),
    ('¯', "bar"),
    ('\u{307}', "dot"),
    ('˙', "dot"),
    ('\u{308}', "ddot"),
    ('\u{20db}', "dddot"),
    ('\u{30c}', "check"),
    ('\u{306}', "breve"),
    ('\u{300}', "grave"),
    ('\u{301}', "acute"),
    ('\u{20d7}', "vec"),
    ('→', "vec"),
    ('\u{20d6}', "overleftarrow"),
];

/// Names of functions that LaTeX knows.
const FUNCTIONS: &[&str] = &[
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim",
    "exp", "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min",
    "sec", "sin", "sinh", "sup", "tan", "tanh",
];

/// Writes an equation between dollars: one of a line of its own between two.
pub(in crate::documents) fn equation(element: Element<'_>) -> String {
    if element.name() != "m:oMathPara" {
        let body = latex(element);
        let body = body.trim();
        return if body.is_empty() { String::new() } else { format!("${body}$") };
    }
    let lines: Vec<String> = element
        .all("m:oMath")
        .map(|line| latex(line).trim().to_owned())
        .filter(|line| !line.is_empty())
        .map(|line| format!("$${line}$$"))
        .collect();
    lines.join("\n")
}

/// Writes all that an element holds.
fn latex(element: Element<'_>) -> String {
    element.children().map(piece).collect()
}

/// Writes the argument of a name, which may be missing.
fn argument(element: Element<'_>, name: &str) -> String {
    element.child(name).map(latex).unwrap_or_default().trim().to_owned()
}

fn piece(element: Element<'_>) -> String {
    let of = |name: &str| argument(element, name);
    let property = |name: &str| properties(element).and_then(|it| it.value(name));
    match element.name() {
        "m:r" | "w:r" | "a:r" => run(element),
        "m:f" => fraction(element),
        "m:rad" if of("m:deg").is_empty() => format!("\\sqrt{{{}}}", of("m:e")),
        "m:rad" => format!("\\sqrt[{}]{{{}}}", of("m:deg"), of("m:e")),
        "m:sSup" => format!("{}^{{{}}}", base(&of("m:e")), of("m:sup")),
        "m:sSub" => format!("{}_{{{}}}", base(&of("m:e")), of("m:sub")),
        "m:sSubSup" => format!("{}_{{{}}}^{{{}}}", base(&of("m:e")), of("m:sub"), of("m:sup")),
        "m:sPre" => format!("{{}}_{{{}}}^{{{}}}{}", of("m:sub"), of("m:sup"), of("m:e")),
        "m:nary" => nary(element),
        "m:d" => delimited(element),
        "m:func" => format!("{}{{{}}}", function(&of("m:fName")), of("m:e")),
        "m:limLow" => format!("{}_{{{}}}", function(&of("m:e")), of("m:lim")),
        "m:limUpp" => format!("{}^{{{}}}", function(&of("m:e")), of("m:lim")),
        "m:acc" => {
            let accent = property("m:chr").and_then(|value| value.chars().next());
            let name = ACCENTS.iter().find(|(letter, _)| Some(*letter) == accent);
            format!("\\{}{{{}}}", name.map_or("hat", |(_, name)| *name), of("m:e"))
        }
        "m:bar" if property("m:pos") == Some("top") => format!("\\overline{{{}}}", of("m:e")),
        "m:bar" => format!("\\underline{{{}}}", of("m:e")),
        "m:groupChr" if property("m:pos") == Some("top") => format!("\\overbrace{{{}}}", of("m:e")),
        "m:groupChr" => format!("\\underbrace{{{}}}", of("m:e")),
        "m:borderBox" => format!("\\boxed{{{}}}", of("m:e")),
        "m:m" => matrix(element),
        "m:eqArr" => {
            let lines: Vec<String> = element.all("m:e").map(latex).collect();
            format!("\\begin{{aligned}}{}\\end{{aligned}}", lines.join(" \\\\ "))
        }
        "m:t" | "w:t" => named(&element.text()),
        "w:del" | "w:moveFrom" => String::new(),
        name if name.ends_with("Pr") => String::new(),
        _ => latex(element),
    }
}

/// Returns the child that holds an element's properties.
fn properties(element: Element<'_>) -> Option<Element<'_>> {
    element.children().find(|child| child.name().starts_with("m:") && child.name().ends_with("Pr"))
}

/// A script is put to a single letter or a group.
fn base(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= 1 || (text.starts_with('\\') && !text.contains([' ', '{'])) {
        text.to_owned()
    } else {
        format!("{{{text}}}")
    }
}

fn run(element: Element<'_>) -> String {
    let plain = properties(element).is_some_and(|it| it.child("m:nor").is_some());
    let mut text = String::new();
    for child in element.children() {
        match child.name() {
            "m:t" | "w:t" | "a:t" if plain => {
                text.extend(["\\text{", &child.text(), "}"]);
            }
            "m:t" | "w:t" | "a:t" => text.push_str(&named(&child.text())),
            "w:br" => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Replaces letters and signs by their names.
fn named(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let word = &rest[..rest.bytes().take_while(u8::is_ascii_alphabetic).count()];
        if FUNCTIONS.contains(&word) {
            out.extend(["\\", word, " "]);
            rest = &rest[word.len()..];
            continue;
        }
        // The other letters of a word begin no function.
        if word.len() > 1 {
            out.push_str(word);
            rest = &rest[word.len()..];
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        if let Some((_, name)) = NAMES.iter().find(|(sign, _)| *sign == letter) {
            out.extend(["\\", name, " "]);
            continue;
        }
        match letter {
            '{' | '}' | '%' | '#' | '_' | '&' | '$' => out.extend(['\\', letter]),
            '\\' => out.push_str("\\backslash "),
            '\u{2061}'..='\u{2064}' | '\u{200b}' => {}
            '−' => out.push('-'),
            '′' => out.push('\''),
            letter => out.push(mathematical(letter).unwrap_or(letter)),
        }
    }
    out
}

/// Returns the plain letter of a mathematical one: of its bold, italic and other alphabets.
fn mathematical(letter: char) -> Option<char> {
    let code = u32::from(letter);
    let plain = match code {
        0x1d400..=0x1d6a3 => {
            let at = (code - 0x1d400) % 52;
            if at < 26 { u32::from('A') + at } else { u32::from('a') + at - 26 }
        }
        0x1d7ce..=0x1d7ff => u32::from('0') + (code - 0x1d7ce) % 10,
        0x210e => u32::from('h'),
        _ => return None,
    };
    char::from_u32(plain)
}

fn fraction(element: Element<'_>) -> String {
    let (over, under) = (argument(element, "m:num"), argument(element, "m:den"));
    match properties(element).and_then(|it| it.value("m:type")) {
        Some("lin" | "skw") => format!("{{{over}}}/{{{under}}}"),
        Some("noBar") => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"),
        _ => format!("\\frac{{{over}}}{{{under}}}"),
    }
}

fn nary(element: Element<'_>) -> String {
    let sign = properties(element).and_then(|it| it.value("m:chr")).unwrap_or("∫");
    let mut text = named(sign).trim_end().to_owned();
    for (mark, name) in [("_", "m:sub"), ("^", "m:sup")] {
        let limit = argument(element, name);
        if !limit.is_empty() {
            text.extend([mark, "{", &limit, "}"]);
        }
    }
    format!("{text}{{{}}}", argument(element, "m:e"))
}

fn delimited(element: Element<'_>) -> String {
    let property = |name: &str, usual| {
        properties(element).and_then(|it| it.child(name)).map_or(usual, |child| {
            child.attr("m:val").or_else(|| child.attr("w:val")).unwrap_or("")
        })
    };
    let side = |value: &str| match value {
        "" => ".".to_owned(),
        "{" | "}" => format!("\\{value}"),
        value => named(value).trim_end().to_owned(),
    };
    let parts: Vec<String> = element.all("m:e").map(latex).collect();
    let separator = named(property("m:sepChr", "|"));
    format!(
        "\\left{}{}\\right{}",
        side(property("m:begChr", "(")),
        parts.join(&separator),
        side(property("m:endChr", ")"))
    )
}

/// Writes the name of a function.
fn function(name: &str) -> String {
    let name = name.trim();
    let letters: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
    if FUNCTIONS.contains(&letters.as_str()) { format!("\\{name}") } else { name.to_owned() }
}

fn matrix(element: Element<'_>) -> String {
    let rows: Vec<String> = element
        .all("m:mr")
        .map(|row| row.all("m:e").map(latex).collect::<Vec<_>>().join(" & "))
        .collect();
    format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ "))
}

/// Writes an equation in `MathML`, as `OpenDocument` keeps it: its TeX where it has it, else
/// the text of it.
pub(in crate::documents) fn mathml(root: Element<'_>) -> String {
    let note = root.find("math:annotation").map(|note| note.text().trim().to_owned());
    let body = note.filter(|note| !note.is_empty()).unwrap_or_else(|| mathml_piece(root));
    let body = body.split_whitespace().collect::<Vec<_>>().join(" ");
    if body.is_empty() { String::new() } else { format!("${body}$") }
}

fn mathml_piece(element: Element<'_>) -> String {
    let parts: Vec<String> = element.children().map(mathml_piece).collect();
    let part = |at: usize| parts.get(at).map_or("", |part| part.trim());
    match element.name() {
        "math:mfrac" => format!("\\frac{{{}}}{{{}}}", part(0), part(1)),
        "math:msup" | "math:mover" => format!("{}^{{{}}}", base(part(0)), part(1)),
        "math:msub" | "math:munder" => format!("{}_{{{}}}", base(part(0)), part(1)),
        "math:msubsup" | "math:munderover" => {
            format!("{}_{{{}}}^{{{}}}", base(part(0)), part(1), part(2))
        }
        "math:msqrt" => format!("\\sqrt{{{}}}", parts.concat()),
        "math:mroot" => format!("\\sqrt[{}]{{{}}}", part(1), part(0)),
        "math:annotation" => String::new(),
        _ => element
            .pieces()
            .map(|piece| match piece {
                Piece::Text(text) => named(text.trim()),
                Piece::Element(inner) => mathml_piece(inner),
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::office::xml::Tree;

    #[test]
    fn equations_as_latex() {
        let r = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let e = |text: &str| format!("<m:e>{}</m:e>", r(text));
        let table = [
            (
                format!("<m:f><m:num>{}</m:num><m:den>{}</m:den></m:f>", r("a"), r("b+1")),
                "$\\frac{a}{b+1}$",
            ),
            (format!("<m:sSup>{}<m:sup>{}</m:sup></m:sSup>", e("x"), r("2")), "$x^{2}$"),
            (format!("<m:rad><m:radPr/><m:deg/>{}</m:rad>", e("π")), "$\\sqrt{\\pi}$"),
            (
                format!(
                    "<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{}</m:sub><m:sup>{}</m:sup>{}</m:nary>",
                    r("i=1"),
                    r("n"),
                    e("i")
                ),
                "$\\sum_{i=1}^{n}{i}$",
            ),
            (
                format!(
                    "<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=''/></m:dPr>{}</m:d>",
                    e("x")
                ),
                "$\\left[x\\right.$",
            ),
            (
                format!("<m:func><m:fName>{}</m:fName>{}</m:func>", r("sin"), e("θ")),
                "$\\sin{\\theta}$",
            ),
            (
                format!(
                    "<m:m><m:mr>{}{}</m:mr><m:mr>{}{}</m:mr></m:m>",
                    e("1"),
                    e("0"),
                    e("0"),
                    e("1")
                ),
                "$\\begin{matrix}1 & 0 \\\\ 0 & 1\\end{matrix}$",
            ),
            (
                format!("<m:acc><m:accPr><m:chr m:val='\u{20d7}'/></m:accPr>{}</m:acc>", e("v")),
                "$\\vec{v}$",
            ),
            (format!("<m:unknown>{}</m:unknown>", r("kept")), "$kept$"),
            (String::new(), ""),
        ];
        for (xml, want) in table {
            let tree = Tree::parse(format!("<m:oMath>{xml}</m:oMath>").as_bytes(), "part").unwrap();
            assert_eq!(equation(tree.root()), want, "{xml}");
        }
    }
}
